// The examples of the repository, as they are.
import account from "../../../examples/account.yaml?raw";
import accountMocks from "../../../examples/mocks/account.yaml?raw";
import approval from "../../../examples/approval.yaml?raw";
import approvalEvents from "../../../examples/events/approval.yaml?raw";
import approvalMocks from "../../../examples/mocks/approval.yaml?raw";
import hello from "../../../examples/hello.yaml?raw";
import kanban from "../../../examples/jobs/kanban.yaml?raw";
import monitor from "../../../examples/monitor.yaml?raw";
import monitorEvents from "../../../examples/events/monitor.yaml?raw";
import monitorMocks from "../../../examples/mocks/monitor.yaml?raw";
import order from "../../../examples/order.yaml?raw";
import orderMocks from "../../../examples/mocks/order.yaml?raw";
import reminder from "../../../examples/reminder.yaml?raw";
import reminderMocks from "../../../examples/mocks/reminder.yaml?raw";
import retry from "../../../examples/retry.yaml?raw";
import retryMocks from "../../../examples/mocks/retry.yaml?raw";

/** Everything that is written in the playground. */
export interface Texts {
  definition: string;
  input: string;
  mocks: string;
  events: string;
  takes: string;
}

export const nothing: Texts = { definition: "", input: "", mocks: "", events: "", takes: "" };

export interface Example {
  name: string;
  title: string;
  texts: Texts;
}

const example = (name: string, title: string, texts: Partial<Texts>): Example => ({ name, title, texts: { ...nothing, ...texts } });

export const examples: Example[] = [
  example("hello", "Greet somebody", { definition: hello, input: "name: Ada\n" }),
  example("order", "Take an order, or take it back", { definition: order, input: "item: lamp\ncustomer: Ada\namount: 30\n", mocks: orderMocks }),
  example("retry", "Try again with patience", { definition: retry, input: "card: c-1\namount: 30\n", mocks: retryMocks }),
  example("reminder", "Wait thirty days", { definition: reminder, input: "email: ada@example.com\ninvoice: {number: 7, amount: 30}\n", mocks: reminderMocks }),
  example("approval", "Have a person decide", { definition: approval, input: "request: q-1\n", mocks: approvalMocks, events: approvalEvents }),
  example("monitor", "Begin with an event", { definition: monitor, mocks: monitorMocks, events: monitorEvents }),
  example("account", "Do things side by side", { definition: account, input: "login: ada\nname: Ada\n", mocks: accountMocks }),
  example("kanban", "Move a job over a board", {
    definition: kanban,
    input: "title: A button that does nothing\n",
    takes: "- {actor: CLIENT, state: DOING}\n- {at: PT2H, actor: CLIENT, state: DOING, progress: 60, message: it blinks}\n- {at: PT6H, actor: CLIENT, state: REVIEW, progress: 100}\n- {at: P1D, actor: WFX, state: SHIPPED, message: thank you}\n",
  }),
  example("empty", "Begin with nothing", { definition: "id: mine\nversion: \"1.0\"\nname: Mine\nstates:\n- name: First\n  type: inject\n  start: {kind: default}\n  data: {}\n  end: {kind: default}\n" }),
];
