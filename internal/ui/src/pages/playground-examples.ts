// The examples of the repository, as they are, and one of 0.2, which has none there.
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
import onboarding from "../../../../examples/onboarding.yaml?raw";
import onboardingMocks from "../../../../examples/mocks/onboarding.yaml?raw";
import approve01 from "../../../../examples/v01/approve.yaml?raw";
import approve01Mocks from "../../../../examples/v01/mocks/approve.yaml?raw";
import home01 from "../../../../examples/v01/home.yaml?raw";
import home01Events from "../../../../examples/v01/events/home.yaml?raw";
import home01Mocks from "../../../../examples/v01/mocks/home.yaml?raw";
import translation01 from "../../../../examples/v01/translation.yaml?raw";
import translation01Events from "../../../../examples/v01/events/translation.yaml?raw";
import translation01Mocks from "../../../../examples/v01/mocks/translation.yaml?raw";
import travel01 from "../../../../examples/v01/travel.yaml?raw";
import travel01Mocks from "../../../../examples/v01/mocks/travel.yaml?raw";
import customs02 from "../../../../examples/v02/customs.yaml?raw";
import customs02Events from "../../../../examples/v02/events/customs.yaml?raw";
import customs02Mocks from "../../../../examples/v02/mocks/customs.yaml?raw";
import newsletter06 from "../../../../examples/v08/newsletter.yaml?raw";
import newsletter06Mocks from "../../../../examples/v08/mocks/newsletter.yaml?raw";
import portion06 from "../../../../examples/v08/portion.yaml?raw";
import account10 from "../../../../examples/v10/account.yaml?raw";
import onboarding10 from "../../../../examples/v10/onboarding.yaml?raw";
import onboarding10Mocks from "../../../../examples/v10/mocks/onboarding.yaml?raw";
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

const parcel02 = `id: parcel
name: Tell where a parcel is
version: "1.0"
functions:
- name: locate
  resource: carrier
states:
- name: Locate
  type: operation
  start:
    kind: default
  actionMode: sequential
  actions:
  - functionRef:
      refName: locate
      parameters:
        parcel: "{{ $.parcel }}"
  transition:
    nextState: Near
- name: Near
  type: switch
  dataConditions:
  - condition: "{{ $[?(@.distance < 5)] }}"
    transition:
      nextState: Soon
  default:
    transition:
      nextState: Later
- name: Soon
  type: inject
  data: {text: It comes today.}
  end:
    kind: default
- name: Later
  type: inject
  data: {text: It is on its way.}
  end:
    kind: default
`;

/** Everything that is written in the playground. */
export interface Texts {
  definition: string;
  input: string;
  mocks: string;
  events: string;
  takes: string;
  /** Beside the definition, by path: sub-workflows, and what definitions refer to. */
  files: Record<string, string>;
}

export const nothing: Texts = { definition: "", input: "", mocks: "", events: "", takes: "", files: {} };

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
const early = of("Serverless Workflow 0.1 and 0.2");
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
  newest("onboarding10", "Run another workflow", { definition: onboarding10, input: "name: Ada\n", mocks: onboarding10Mocks, files: { "account.yaml": account10 } }),
  newest("empty", "Begin with nothing", { definition: "document:\n  dsl: 1.0.3\n  namespace: default\n  name: mine\n  version: 1.0.0\ndo:\n- first:\n    set: {hello: world}\n" }),
  later("order08", "Take an order, or take it back (0.8)", { definition: order08, input: "item: lamp\ncustomer: Ada\ncard: c-1\namount: 30\n", mocks: order08Mocks }),
  later("sensor08", "Watch a sensor for a week (0.8)", { definition: sensor08, mocks: sensor08Mocks, events: sensor08Events }),
  later("ticket08", "Open a ticket, as written for SonataFlow (0.8)", { definition: ticket08, input: "customer: c-1\ntext: It does not blink\n", mocks: ticket08Mocks }),
  later("review07", "Review a document, two weeks at most (0.7)", { definition: review07, input: "document: d-1\nround: 1\n", mocks: review07Mocks, events: review07Events }),
  later("invoices09", "Send invoices in batches (0.9)", { definition: invoices09, input: "invoices: [{number: 1, to: ada}, {number: 2, to: bo}]\n", mocks: invoices09Mocks }),
  later("newsletter06", "Run a sub-workflow until nobody is left (0.6)", { definition: newsletter06, input: "list: weekly\n", mocks: newsletter06Mocks, files: { "portion.yaml": portion06 } }),
  example("hello", "Greet somebody", { definition: hello, input: "name: Ada\n" }),
  example("order", "Take an order, or take it back", { definition: order, input: "item: lamp\ncustomer: Ada\namount: 30\n", mocks: orderMocks }),
  example("retry", "Try again with patience", { definition: retry, input: "card: c-1\namount: 30\n", mocks: retryMocks }),
  example("reminder", "Wait thirty days", { definition: reminder, input: "email: ada@example.com\ninvoice: {number: 7, amount: 30}\n", mocks: reminderMocks }),
  example("approval", "Have a person decide", { definition: approval, input: "request: q-1\n", mocks: approvalMocks, events: approvalEvents }),
  example("monitor", "Begin with an event", { definition: monitor, mocks: monitorMocks, events: monitorEvents }),
  example("account", "Do things side by side", { definition: account, input: "login: ada\nname: Ada\n", mocks: accountMocks }),
  example("onboarding", "Run another workflow, and handle its errors", { definition: onboarding, input: "name: Ada\nlogin: ada\n", mocks: onboardingMocks, files: { "account.yaml": account } }),
  early("approve01", "Ask until there is an answer (0.1)", { definition: approve01, input: "who: Ada\n", mocks: approve01Mocks }),
  early("translation01", "Have a text translated and read (0.1, with hyphens)", { definition: translation01, mocks: translation01Mocks, events: translation01Events }),
  early("home01", "Watch a house (0.1, its first draft)", { definition: home01, mocks: home01Mocks, events: home01Events }),
  early("travel01", "Book a journey, with a sub-workflow (0.1)", {
    definition: travel01,
    input: "who: Ada\nto: Lisbon\nnights: 3\n",
    mocks: travel01Mocks,
    files: { "approve.yaml": approve01 },
  }),
  early("customs02", "Declare a parcel, and wait for the duty (0.1 as released)", { definition: customs02, input: "parcelid: p-1\nvalue: 900\ngift: false\n", mocks: customs02Mocks, events: customs02Events }),
  early("parcel02", "Tell where a parcel is (0.2)", { definition: parcel02, input: "parcel: p-1\n", mocks: "locate: {result: {distance: 3}}\n" }),
  job("kanban", "Move a job over a board", {
    definition: kanban,
    input: "title: A button that does nothing\n",
    takes: "- {actor: CLIENT, state: DOING}\n- {at: PT2H, actor: CLIENT, state: DOING, progress: 60, message: it blinks}\n- {at: PT6H, actor: CLIENT, state: REVIEW, progress: 100}\n- {at: P1D, actor: WFX, state: SHIPPED, message: thank you}\n",
  }),
];
