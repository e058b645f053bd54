// The examples of the repository, as they are.
import account from "../../../../examples/account.yaml?raw";
import accountMocks from "../../../../examples/mocks/account.yaml?raw";
import approval from "../../../../examples/approval.yaml?raw";
import approvalEvents from "../../../../examples/events/approval.yaml?raw";
import approvalMocks from "../../../../examples/mocks/approval.yaml?raw";
import hello from "../../../../examples/hello.yaml?raw";
import kanban from "../../../../examples/jobs/kanban.yaml?raw";
import monitor from "../../../../examples/monitor.yaml?raw";
import monitorEvents from "../../../../examples/events/monitor.yaml?raw";
import monitorMocks from "../../../../examples/mocks/monitor.yaml?raw";
import order from "../../../../examples/order.yaml?raw";
import orderMocks from "../../../../examples/mocks/order.yaml?raw";
import reminder from "../../../../examples/reminder.yaml?raw";
import reminderMocks from "../../../../examples/mocks/reminder.yaml?raw";
import retry from "../../../../examples/retry.yaml?raw";
import retryMocks from "../../../../examples/mocks/retry.yaml?raw";
import invoices09 from "../../../../examples/v08/invoices.yaml?raw";
import invoices09Mocks from "../../../../examples/v08/mocks/invoices.yaml?raw";
import order08 from "../../../../examples/v08/order.yaml?raw";
import order08Mocks from "../../../../examples/v08/mocks/order.yaml?raw";
import review07 from "../../../../examples/v08/review.yaml?raw";
import review07Events from "../../../../examples/v08/events/review.yaml?raw";
import review07Mocks from "../../../../examples/v08/mocks/review.yaml?raw";
import sensor08 from "../../../../examples/v08/sensor.yaml?raw";
import sensor08Events from "../../../../examples/v08/events/sensor.yaml?raw";
import sensor08Mocks from "../../../../examples/v08/mocks/sensor.yaml?raw";
import ticket08 from "../../../../examples/v08/ticket.json?raw";
import ticket08Mocks from "../../../../examples/v08/mocks/ticket.yaml?raw";
import greet10 from "../../../../examples/v10/greet.yaml?raw";
import invoices10 from "../../../../examples/v10/invoices.yaml?raw";
import invoices10Mocks from "../../../../examples/v10/mocks/invoices.yaml?raw";
import leave10 from "../../../../examples/v10/leave.yaml?raw";
import leave10Events from "../../../../examples/v10/events/leave.yaml?raw";
import leave10Mocks from "../../../../examples/v10/mocks/leave.yaml?raw";
import order10 from "../../../../examples/v10/order.yaml?raw";
import order10Mocks from "../../../../examples/v10/mocks/order.yaml?raw";
import party10 from "../../../../examples/v10/party.yaml?raw";
import party10Events from "../../../../examples/v10/events/party.yaml?raw";
import reminders10 from "../../../../examples/v10/reminders.yaml?raw";
import reminders10Mocks from "../../../../examples/v10/mocks/reminders.yaml?raw";
import sensor10 from "../../../../examples/v10/sensor.yaml?raw";
import sensor10Events from "../../../../examples/v10/events/sensor.yaml?raw";
import suppliers10 from "../../../../examples/v10/suppliers.yaml?raw";
import suppliers10Mocks from "../../../../examples/v10/mocks/suppliers.yaml?raw";
import transfer10 from "../../../../examples/v10/transfer.yaml?raw";
import transfer10Mocks from "../../../../examples/v10/mocks/transfer.yaml?raw";

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
  language: string;
  texts: Texts;
}

const of =
  (language: string) =>
  (name: string, title: string, texts: Partial<Texts>): Example => ({ name, title, language, texts: { ...nothing, ...texts } });

const newest = of("Open Workflow 1.0");
const later = of("Serverless Workflow 0.6 to 0.9");
const example = of("Serverless Workflow 0.5");
const job = of("Jobs");

/** The example that a playground begins with. */
export const beginWith = "greet";

export const examples: Example[] = [
  newest("greet", "Greet somebody", { definition: greet10, input: "name: Ada\n" }),
  newest("pay", "Pay an order, or release what was reserved", { definition: order10, input: "item: lamp\ncount: 2\ncard: c-1\namount: 40\n", mocks: order10Mocks }),
  newest("suppliers", "Take the first answer of two", { definition: suppliers10, input: "item: lamp\n", mocks: suppliers10Mocks }),
  newest("leave", "Wait for a decision, two days at most", { definition: leave10, input: "request: r-1\nemployee: ada\ndays: 5\n", mocks: leave10Mocks, events: leave10Events }),
  newest("invoices", "Send letters every night", { definition: invoices10, mocks: invoices10Mocks }),
  newest("sensor", "Judge readings as they come", { definition: sensor10, input: "room: attic\n", events: sensor10Events }),
  newest("party", "Collect answers until an event", { definition: party10, events: party10Events }),
  newest("transfer", "Extend every call", { definition: transfer10, input: "from: a\nto: b\namount: 40\n", mocks: transfer10Mocks }),
  newest("reminders", "Call functions of the definition", { definition: reminders10, input: "number: 7\ncustomer: ada\n", mocks: reminders10Mocks }),
  newest("empty", "Begin with nothing", { definition: "document:\n  dsl: 1.0.3\n  namespace: default\n  name: mine\n  version: 1.0.0\ndo:\n- first:\n    set: {hello: world}\n" }),
  later("order08", "Take an order, or take it back (0.8)", { definition: order08, input: "item: lamp\ncustomer: Ada\ncard: c-1\namount: 30\n", mocks: order08Mocks }),
  later("sensor08", "Watch a sensor for a week (0.8)", { definition: sensor08, mocks: sensor08Mocks, events: sensor08Events }),
  later("ticket08", "Open a ticket, as written for SonataFlow (0.8)", { definition: ticket08, input: "customer: c-1\ntext: It does not blink\n", mocks: ticket08Mocks }),
  later("review07", "Review a document, two weeks at most (0.7)", { definition: review07, input: "document: d-1\nround: 1\n", mocks: review07Mocks, events: review07Events }),
  later("invoices09", "Send invoices in batches (0.9)", { definition: invoices09, input: "invoices: [{number: 1, to: ada}, {number: 2, to: bo}]\n", mocks: invoices09Mocks }),
  example("hello", "Greet somebody", { definition: hello, input: "name: Ada\n" }),
  example("order", "Take an order, or take it back", { definition: order, input: "item: lamp\ncustomer: Ada\namount: 30\n", mocks: orderMocks }),
  example("retry", "Try again with patience", { definition: retry, input: "card: c-1\namount: 30\n", mocks: retryMocks }),
  example("reminder", "Wait thirty days", { definition: reminder, input: "email: ada@example.com\ninvoice: {number: 7, amount: 30}\n", mocks: reminderMocks }),
  example("approval", "Have a person decide", { definition: approval, input: "request: q-1\n", mocks: approvalMocks, events: approvalEvents }),
  example("monitor", "Begin with an event", { definition: monitor, mocks: monitorMocks, events: monitorEvents }),
  example("account", "Do things side by side", { definition: account, input: "login: ada\nname: Ada\n", mocks: accountMocks }),
  job("kanban", "Move a job over a board", {
    definition: kanban,
    input: "title: A button that does nothing\n",
    takes: "- {actor: CLIENT, state: DOING}\n- {at: PT2H, actor: CLIENT, state: DOING, progress: 60, message: it blinks}\n- {at: PT6H, actor: CLIENT, state: REVIEW, progress: 100}\n- {at: P1D, actor: WFX, state: SHIPPED, message: thank you}\n",
  }),
];
