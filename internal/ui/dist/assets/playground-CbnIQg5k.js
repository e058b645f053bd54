import{A as e,B as t,C as n,D as r,E as i,F as a,H as o,I as s,L as c,M as l,N as u,O as d,P as f,R as p,S as m,T as h,U as g,V as _,_ as ee,a as v,b as y,c as b,g as te,h as ne,i as x,j as S,k as C,l as re,n as w,o as T,r as E,s as D,t as O,u as k,v as A,x as j,z as M}from"./index-C2wmYRZO.js";function ie(e,t){return t===void 0?e?.records[0]?.instance:e?.records.find(n=>e.instances.some(e=>e.id===n.instance&&e.definition.id===t))?.instance}function N(t){let{run:n,instance:r,graph:i}=t,a=o(()=>n&&r?ae(n,r,k(i)):void 0,[n,r,i]),s=P({run:n,files:t.files,parent:r});return e(re,{svg:i,label:t.label,...a,selected:t.selected,onSelect:t.onSelect,nested:s})}function ae(e,t,n){let r=e.records.flatMap(e=>e.instance===t?[e.record]:[]),i=e.instances.find(e=>e.id===t)??{id:t,status:`running`},a=x(v(r,{}),r,i,n),o=(e,t,n,r)=>{let i=a.marks.get(e),o=/×\d+/.exec(i?.note??``)?.[0]??``;a.marks.set(e,{...i,kind:t,says:n,badges:[{text:`${r} ${o}`.trim()}]})};i.job&&i.job.group!==`FAILED`&&o(i.job.state,`active`,`the job is here`,E.active);let s=e.stopped.filter(e=>e.instance===t);for(let e of s)o(e.node,`waiting`,`comes next`,`▷ next`);let c=e=>{let t=s.find(t=>t.node===e);return t?[{name:`Input`,text:w(t.data)}]:a.facts(e)};return{...a,facts:c}}function P(t){let n=p(t);return M(()=>{n.value=t},[t.run,t.files,t.parent]),o(()=>t=>e(F,{...t,...n.value}),[])}function F(t){let{id:n,version:r}=b(t.workflow),i=o(()=>t.run?.records.flatMap(({instance:e,record:r})=>r.type===`spawned`&&e===t.parent&&r.node===t.state&&r.name===n?[`${e}:${r.ticket}`]:[])??[],[t.run,t.parent,t.state,n]),[a,s]=_(),c=i.includes(a??``)?a:i.at(-1),l=t.files.find(e=>e.graph&&e.id===n&&(!r||e.version===r));return l?e(g,{children:[e(`p`,{class:`level-note`,children:[e(`span`,{class:`mono`,children:l.path}),!c&&e(`span`,{class:`quiet`,children:` It has not been started.`}),` `,e(D,{of:i,chosen:c,choose:s})]}),e(N,{run:t.run,files:t.files,graph:l.graph,instance:c,label:`Diagram of ${n}`},c)]}):e(`p`,{class:`level-note quiet`,children:[`No file beside the definition has the workflow `,t.workflow,`, or it has errors.`]})}var I=`# Open an account: reserve a login, then what belongs to it, side by side. What is
# not caught here fails this workflow, and is a fault of the state that runs it:
# see onboarding.yaml.
id: account
name: Open an account
version: "1.0"
functions:
- name: reserveLogin
- name: createMailbox
- name: orderBadge
states:
- name: Reserve
  type: operation
  start:
    kind: default
  actions:
  - functionRef:
      refName: reserveLogin
      parameters: {login: "{{ $.login }}"}
    actionDataFilter:
      dataResultsPath: "{{ $.account }}"
  transition:
    nextState: Equip

- name: Equip
  type: parallel
  completionType: and
  branches:
  - name: mailbox
    actions:
    - functionRef:
        refName: createMailbox
        parameters: {account: "{{ $.account }}"}
      actionDataFilter:
        dataResultsPath: "{{ $.address }}"
  - name: badge
    actions:
    - functionRef:
        refName: orderBadge
        parameters: {name: "{{ $.name }}"}
      actionDataFilter:
        dataResultsPath: "{{ $.badge }}"
  stateDataFilter:
    dataOutputPath: "{{ $['account', 'address', 'badge'] }}"
  end:
    kind: default
`,L=`reserveLogin: {result: {account: a-1}}
createMailbox: {delay: PT5S, result: {address: ada@example.com}}
orderBadge: {delay: PT2M, result: {badge: 77}}
`,oe=`# A person decides. The workflow asks, then waits for an event that carries the
# request's id, for two days at most.
id: approval
name: Have a request approved
version: "1.0"
functions:
- name: askManager
- name: grant
- name: refuse
- name: escalate
events:
- name: Decided
  type: request.decided
  source: back-office
  correlation:
  - contextAttributeName: requestid
    contextAttributeValue: "{{ $.request }}"
states:
- name: Ask
  type: callback
  start:
    kind: default
  action:
    functionRef:
      refName: askManager
      parameters:
        request: "{{ $.request }}"
  eventRef: Decided
  timeout: P2D
  transition:
    nextState: Decide

- name: Decide
  type: switch
  dataConditions:
  - name: approved
    condition: "{{ $[?(@.verdict == 'approved')] }}"
    transition:
      nextState: Grant
  - name: refused
    condition: "{{ $[?(@.verdict == 'refused')] }}"
    transition:
      nextState: Refuse
  default:
    transition:
      nextState: Escalate

- name: Grant
  type: operation
  actions:
  - functionRef:
      refName: grant
      parameters: {request: "{{ $.request }}", by: "{{ $.by }}"}
  end:
    kind: default

- name: Refuse
  type: operation
  actions:
  - functionRef:
      refName: refuse
      parameters: {request: "{{ $.request }}"}
  end:
    kind: default

- name: Escalate
  type: operation
  actions:
  - functionRef:
      refName: escalate
      parameters: {request: "{{ $.request }}"}
  end:
    kind: default
`,se=`- at: P1D
  event: {type: request.decided, source: back-office, id: e1, requestid: q-1, data: {verdict: approved, by: Grace}}
`,ce=`askManager: {result: {}}
grant: {result: {}}
`,le=`# The smallest useful workflow: one state, no calls.
#
#   go run ./cmd/lockstep run examples/hello.yaml --input '{"name":"Ada"}'
id: hello
name: Greet someone by name
version: "1.0"
states:
- name: Greet
  type: inject
  start:
    kind: default
  data:
    greeting: "Hello, {{ $.name }}"
  stateDataFilter:
    dataOutputPath: "{{ $.greeting }}"
  end:
    kind: default
`,ue=`name: team.board
description: A task on a board, from an idea to something that is in use
groups:
- name: OPEN
  description: Somebody can work on it
  states:
  - READY
  - DOING
  - REVIEW
- name: CLOSED
  description: Nothing more happens
  states:
  - SHIPPED
  - DROPPED
states:
- name: IDEA
  description: Written down
- name: READY
  description: Worth doing, and free for anybody to take
- name: DOING
  description: Somebody works on it
- name: REVIEW
  description: Somebody else looks at the result
- name: SHIPPED
  description: In use
- name: DROPPED
  description: Not worth it
transitions:
- from: IDEA
  to: READY
  eligible: WFX
  action: IMMEDIATE
  description: The board puts every idea among those that can be taken
- from: READY
  to: DOING
  eligible: CLIENT
  description: A developer takes the task
- from: READY
  to: DROPPED
  eligible: WFX
  description: The owner of the board does not want it any more
- from: DOING
  to: REVIEW
  eligible: CLIENT
  description: The developer is done
- from: REVIEW
  to: SHIPPED
  eligible: CLIENT
  description: A developer finds nothing wrong, and ships it
- from: REVIEW
  to: SHIPPED
  eligible: WFX
  description: The owner finds nothing wrong
- from: REVIEW
  to: DROPPED
  eligible: CLIENT
  description: It cannot be made to work
- from: REVIEW
  to: DROPPED
  eligible: WFX
  description: Nobody needs the result
`,de=`# One instance for each patient who needs watching. The first reading starts it;
# readings of the same patient go to the instance that runs, those of another
# patient start another. After half an hour of silence somebody looks in.
id: monitor
name: Watch over a patient
version: "1.0"
functions:
- name: bringIcePack
- name: bringMonitor
- name: pageDoctor
- name: sendNurse
events:
- name: Fever
  type: ward.fever
  source: ward-3
  correlation:
  - contextAttributeName: patientid
- name: RacingPulse
  type: ward.pulse
  source: ward-3
  correlation:
  - contextAttributeName: patientid
- name: Settled
  type: ward.settled
  source: ward-3
  correlation:
  - contextAttributeName: patientid
- name: Alert
  type: ward.alert
  kind: produced
states:
- name: FirstSign
  type: event
  start:
    kind: default
  exclusive: true
  # The actions on an event see the attributes by which it was correlated, here
  # patientid. They are not part of the data.
  onEvents:
  - eventRefs: [Fever]
    actions:
    - functionRef:
        refName: bringIcePack
        parameters: {bed: "{{ $.bed }}", patient: "{{ $.patientid }}"}
  - eventRefs: [RacingPulse]
    actions:
    - functionRef:
        refName: bringMonitor
        parameters: {bed: "{{ $.bed }}", patient: "{{ $.patientid }}"}
  transition:
    nextState: Watch

- name: Watch
  type: switch
  eventConditions:
  - eventRef: Fever
    transition:
      nextState: Alarm
      produceEvents:
      - eventRef: Alert
        data: {bed: "{{ $.bed }}", celsius: "{{ $.celsius }}"}
  - eventRef: RacingPulse
    transition:
      nextState: Alarm
      produceEvents:
      - eventRef: Alert
        data: {bed: "{{ $.bed }}", beats: "{{ $.beats }}"}
  - eventRef: Settled
    end:
      kind: default
  eventTimeout: PT30M
  default:
    transition:
      nextState: LookIn

- name: Alarm
  type: operation
  actions:
  - functionRef:
      refName: pageDoctor
      parameters: {bed: "{{ $.bed }}"}
    actionDataFilter:
      dataResultsPath: "{{ $.doctor }}"
  transition:
    nextState: Watch

- name: LookIn
  type: operation
  actions:
  - functionRef:
      refName: sendNurse
      parameters: {bed: "{{ $.bed }}"}
    actionDataFilter:
      dataResultsPath: "{{ $.nurse }}"
  end:
    kind: default
`,fe=`- event: {type: ward.fever, source: ward-3, id: e1, patientid: p-7, data: {bed: 12, celsius: 39.1}}
- at: PT10M
  event: {type: ward.fever, source: ward-3, id: e2, patientid: p-7, data: {celsius: 40.3}}
- at: PT25M
  event: {type: ward.settled, source: ward-3, id: e3, patientid: p-7, data: {celsius: 37.5}}
`,pe=`bringIcePack: {result: {}}
pageDoctor: {result: {doctor: Elizabeth}}
sendNurse: {result: {nurse: Florence}}
`,me=`# Welcome a new colleague. The account is opened by another workflow, account.yaml;
# its output is used here, and so are its errors: a login that is taken is chosen
# again, anything else is for a person to solve.
id: onboarding
name: Welcome a new colleague
version: "1.0"
functions:
- name: proposeLogin
- name: sendWelcome
- name: openTicket
states:
- name: OpenAccount
  type: subflow
  start:
    kind: default
  workflowId: account
  waitForCompletion: true
  onErrors:
  - error: LoginTaken
    transition:
      nextState: ChooseAgain
  - error: "*"
    transition:
      nextState: AskForHelp
  transition:
    nextState: Welcome

- name: ChooseAgain
  type: operation
  actions:
  - functionRef:
      refName: proposeLogin
      parameters: {name: "{{ $.name }}", taken: "{{ $.login }}"}
    actionDataFilter:
      dataResultsPath: "{{ $.login }}"
  transition:
    nextState: OpenAccount

- name: Welcome
  type: operation
  actions:
  - functionRef:
      refName: sendWelcome
      parameters: {to: "{{ $.address }}", text: "Welcome, {{ $.name }}. Your badge is number {{ $.badge }}."}
  end:
    kind: default

- name: AskForHelp
  type: operation
  actions:
  - functionRef:
      refName: openTicket
      parameters: {text: "No account for {{ $.name }} yet."}
    actionDataFilter:
      dataResultsPath: "{{ $.ticket }}"
  end:
    kind: default
`,he=`proposeLogin: {result: {login: ada2}}
reserveLogin:
- {error: {name: LoginTaken, code: "409"}}
- {result: {account: a-2}}
createMailbox: {result: {address: ada2@example.com}}
orderBadge: {result: {badge: 78}}
sendWelcome: {result: {}}
`,R=`# Asks a manager until there is an answer, at most for a day, then the deputy. A
# retry need not be about an error: a result that equals \`match\` is asked for again.
id: approve
name: Get an approval
version: "1.0"
startsAt: Manager
states:
- name: Manager
  type: OPERATION
  actionMode: SEQUENTIAL
  actions:
  - function:
      name: askManager
      type: http
    retry:
      match: pending
      retryInterval: R4/PT6H
      nextState: Deputy
  end: true

- name: Deputy
  type: OPERATION
  actionMode: SEQUENTIAL
  actions:
  - function:
      name: askDeputy
      type: http
    timeout: P1D
  end: true
`,ge=`askDeputy: {delay: PT2H, result: {approved: false}}
askManager:
- {result: pending}
- {result: {approved: true, by: Grace}}
`,_e=`# Watches a house while nobody should be in it. An open door or a movement is a
# sign; whoever may be there has a minute to enter the code. This is the earliest
# draft of the specification: keys with hyphens, times in seconds, and functions
# that are only names. Its workflows have no name either; this one is called home,
# after its file.
trigger-defs:
- name: DoorOpened
  source: house/door
  eventID: door.opened
  correlation-token: $.data.house
- name: MotionSeen
  source: house/camera
  eventID: motion.seen
  correlation-token: $.data.house
- name: CodeEntered
  source: house/keypad
  eventID: code.entered
  correlation-token: house # no path: an attribute of the event, or a field of its data
states:
- name: Sign
  type: EVENT
  start: true
  events:
  - event-expression: DoorOpened or MotionSeen
    actions: []
    next-state: Grace

# \`not\` is decided when the time is over. If the code was entered, nothing of this
# state can become true any more: it lapses, and a state that lapses leads to the
# END state.
- name: Grace
  type: EVENT
  events:
  - event-expression: not CodeEntered
    timeout: 60
    actions: []
    next-state: Look

# Both at the same time. The results are a list, in this order.
- name: Look
  type: OPERATION
  action-mode: PARALLEL
  actions:
  - function: takePicture
  - function: listen
  ResultPath: $.evidence
  next-state: Judge

# What a function returns replaces the data. When it is too slow, three times, the
# owner has to look at the evidence.
- name: Judge
  type: OPERATION
  action-mode: SEQUENTIAL
  actions:
  - function: judge
    timeout: 10
    retry:
    - match: SYS.Timeout
      retry-interval: 5
      max-retry: 2
      next-state: CallOwner
  next-state: Decide

- name: Decide
  type: SWITCH
  choices:
  - path: $.danger
    operator: GTEQ
    value: "80"
    next-state: CallPolice
  default: CallOwner

- name: CallPolice
  type: OPERATION
  action-mode: SEQUENTIAL
  actions:
  - function: callPolice
  next-state: Quiet

- name: CallOwner
  type: OPERATION
  action-mode: SEQUENTIAL
  actions:
  - function: callOwner
  next-state: Quiet

- name: Quiet
  type: END
  status: SUCCESS
`,ve=`- event: {type: door.opened, source: house/door, id: e1, data: {house: h-1, door: cellar}}
`,ye=`callOwner: {result: {called: owner}}
callPolice: {result: {called: police}}
judge: {delay: PT2S, result: {danger: 95}}
listen: {delay: PT10S, result: {noise: glass}}
takePicture: {delay: PT2S, result: {picture: p-1}}
`,be=`# A text is translated by a machine and read by a person, who may send it back as
# often as needed. What a function returns replaces the data, so translate returns
# the text too; what an event brings is merged into the data.
name: translation
trigger-defs:
- name: Requested
  source: desk
  type: text.requested
  correlation-token: document
- name: Accepted
  source: reviewer
  type: text.accepted
  correlation-token: document
- name: Corrected
  source: reviewer
  type: text.corrected
  correlation-token: document
- name: Withdrawn
  source: desk
  type: text.withdrawn
  correlation-token: document
states:
- name: Begin
  type: EVENT
  start: true
  events:
  - event-expression: Requested
    actions: []
    next-state: Translate

# Whatever fails is tried again after ten seconds, except what no repetition can
# mend: a refused permission and parameters that are wrong are not SYS.Fail.
- name: Translate
  type: OPERATION
  action-mode: SEQUENTIAL
  actions:
  - function:
      name: translate
      type: http
    retry:
      match: SYS.Fail
      retry-interval: 10
      max-retry: 2
      next-state: Explain
  next-state: Review

# The reviewer has two days for each version. Of a correction only the review is
# taken, not how long it took. Nobody reads it: there are two END states, so this
# ends the workflow as a timeout.
- name: Review
  type: EVENT
  events:
  - event-expression: Accepted
    timeout: 172800
    actions: []
    next-state: Publish
  - event-expression: Corrected
    timeout: 172800
    filter:
      input-path: $.data.review
    actions: []
    next-state: Translate
  - event-expression: Withdrawn
    timeout: 172800
    actions: []
    next-state: Explain

# Parameters take the place of the data; texts that begin with $ are paths into it.
- name: Publish
  type: OPERATION
  action-mode: SEQUENTIAL
  actions:
  - function:
      name: publish
      type: http
      parameters: {body: $.translation, language: $.language, draft: false}
    timeout: 60
  filter:
    output-path: $.address
  next-state: Published

- name: Explain
  type: OPERATION
  action-mode: SEQUENTIAL
  actions:
  - function:
      name: explain
      type: http
  next-state: Unpublished

- name: Published
  type: END
  status: SUCCESS

- name: Unpublished
  type: END
  status: FAILURE
`,xe=`- event: {type: text.requested, source: desk, id: e1, document: d-1, data: {text: bank, language: nl}}
- at: PT3H
  event: {type: text.corrected, source: reviewer, id: e2, document: d-1, data: {review: {hint: of a river}, minutes: 5}}
- at: P1D
  event: {type: text.accepted, source: reviewer, id: e3, document: d-1}
`,Se=`explain: {result: {told: true}}
publish: {delay: PT1S, result: {address: /nl/1, bytes: 5}}
translate:
- {delay: PT5S, result: {text: bank, language: nl, translation: bank}}
- {delay: PT5S, result: {text: bank, language: nl, translation: oever}}
`,Ce=`# A trip is booked: with the manager's leave, then flight and hotel at the same
# time. Keys in camelCase, times as durations, and \`end: true\` in place of END states.
id: travel
name: Book a trip
version: "1.0"
startsAt: AskManager
states:
# Another workflow; what it returns becomes part of the data.
- name: AskManager
  type: SUBFLOW
  workflowId: approve
  waitForCompletion: true
  nextState: Approved

- name: Approved
  type: SWITCH
  choices:
  - single:
    - path: $.approved
      operator: EQ
      value: true
    nextState: Book
  default: Sorry

# Each branch gets a copy of the data, and the result is a list, in the order of the
# branches. Nobody waits for the third: null stands in its place, and it goes on
# when the trip is booked.
- name: Book
  type: PARALLEL
  branches:
  - name: Way
    startsAt: Flight
    waitForCompletion: true
    states:
    - name: Flight
      type: OPERATION
      actionMode: SEQUENTIAL
      actions:
      - function:
          name: bookFlight
          type: http
        timeout: PT30S
        retry:
          match: SYS.MatchAny
          retryInterval: R2/PT5M
          nextState: Train
      end: true
    - name: Train
      type: OPERATION
      actionMode: SEQUENTIAL
      actions:
      - function:
          name: bookTrain
          type: http
      end: true
  - name: Bed
    startsAt: Hotel
    waitForCompletion: true
    states:
    - name: Hotel
      type: OPERATION
      actionMode: SEQUENTIAL
      actions:
      - function:
          name: bookHotel
          type: http
          parameters: {city: $.to, nights: $.nights}
        retry:
          match: Full
          nextState: Hostel
      end: true
    - name: Hostel
      type: OPERATION
      actionMode: SEQUENTIAL
      actions:
      - function:
          name: bookHostel
          type: http
      end: true
  - name: Reminder
    startsAt: Wait
    waitForCompletion: false
    states:
    - name: Wait
      type: DELAY
      timeDelay: P2D
      nextState: Remind
    - name: Remind
      type: OPERATION
      actionMode: SEQUENTIAL
      actions:
      - function:
          name: remind
          type: http
      end: true
  filter:
    inputPath: $
    resultPath: $.bookings
  nextState: Confirm

# At the same time; of each result only a part.
- name: Confirm
  type: OPERATION
  actionMode: PARALLEL
  actions:
  - function:
      name: mail
      type: http
    filter:
      inputPath: $.bookings
      outputPath: $.sent
  - function:
      name: enterInCalendar
      type: http
    filter:
      inputPath: $.bookings[0]
  filter:
    inputPath: $
    resultPath: $.confirmed
  end: true

- name: Sorry
  type: OPERATION
  actionMode: SEQUENTIAL
  actions:
  - function:
      name: sayNo
      type: http
  end: true
`,we=`askManager:
- {result: pending}
- {result: {approved: true, by: Grace}}
bookFlight: {error: {name: Full}}
bookHotel: {delay: PT10S, result: {hotel: Tejo}}
bookTrain: {delay: PT5S, result: {train: 310}}
enterInCalendar: {result: entered}
mail: {result: {sent: 1}}
remind: {result: {}}
`,Te=`# Written as in April 2020, when Serverless Workflow 0.1 was released.
id: customs
name: Parcel through customs
version: "1.0"
description: Declares a parcel, has the duty paid, and hands it to the carrier.
functions:
- name: declare
  resource: customs-office
  type: service
- name: askDuty
  resource: payment-page
- name: pickUp
  resource: carrier
- name: tell
  resource: mail
- name: sendBack
  resource: carrier
events:
- name: DutyPaid
  type: customs.duty.paid
  source: bank
  correlationToken: parcelid
- name: Released
  type: customs.released
  source: customs
states:
- name: Declare
  type: OPERATION
  start:
    kind: DEFAULT
  actionMode: SEQUENTIAL
  actions:
  - functionRef:
      refName: declare
      parameters:
        parcel: $.parcelid
        value: $.value
  retry:
  - expression:
      language: spel
      body: $.error.name eq 'OfficeClosed'
    interval: R3/PT8H
  onError:
  - expression:
      language: spel
      body: name eq 'Prohibited' or name eq 'OfficeClosed'
    errorDataFilter:
      dataOutputPath: $.message
    transition:
      nextState: SendBack
  transition:
    nextState: Duty
- name: Duty
  type: SWITCH
  choices:
  - and:
    - path: $.value
      operator: GreaterThan
      value: "150"
    - path: $.gift
      operator: Equals
      value: "false"
    transition:
      nextState: Collect
  default:
    nextState: Release
- name: Collect
  type: CALLBACK
  action:
    functionRef:
      refName: askDuty
      parameters:
        parcel: $.parcelid
  eventRef: DutyPaid
  timeout: P14D
  transition:
    nextState: Paid
- name: Paid
  type: SWITCH
  choices:
  - path: $.receipt
    operator: Exists
    value: "true"
    transition:
      nextState: Release
  default:
    nextState: SendBack
- name: Release
  type: PARALLEL
  branches:
  - name: Goods
    waitForCompletion: true
    states:
    - name: HandOver
      type: OPERATION
      start:
        kind: DEFAULT
      actions:
      - functionRef:
          refName: pickUp
          parameters:
            parcel: $.parcelid
      end:
        kind: DEFAULT
  - name: News
    waitForCompletion: true
    states:
    - name: Tell
      type: OPERATION
      start:
        kind: DEFAULT
      actions:
      - functionRef:
          refName: tell
          parameters:
            parcel: $.parcelid
      transition:
        nextState: Note
    - name: Note
      type: RELAY
      inject:
        told: true
      end:
        kind: DEFAULT
  end:
    kind: EVENT
    produceEvent:
      nameRef: Released
      data: $.tour
- name: SendBack
  type: OPERATION
  actions:
  - functionRef:
      refName: sendBack
      parameters:
        parcel: $.parcelid
  end:
    kind: DEFAULT
`,Ee=`- at: P2D
  event: {type: customs.duty.paid, source: bank, parcelid: p-1, data: {receipt: r-9}}
`,De=`askDuty: {delay: PT1M, result: {}}
declare:
- {delay: PT1S, error: {name: OfficeClosed}}
- {delay: PT1S, result: {number: 7}}
pickUp: {delay: PT2H, result: {tour: t-4}}
tell: {result: {}}
`,Oe=`# A newsletter goes out in portions: a sub-workflow is run again until nobody is left, or until somebody says stop.
id: newsletter
name: Send a newsletter
version: "1.0"
specVersion: "0.6"
start: Count
events:
- {name: Stop, source: news, type: newsletter.stop}
functions:
- {name: subscribers, operation: "https://news.example.com/subscribers#GET"}
- {name: report, operation: https://news.example.com/reports}
states:
- name: Count
  type: operation
  actions:
  - functionRef: {refName: subscribers, arguments: {list: "\${ .list }"}}
    actionDataFilter: {results: "\${ .total }", toStateData: "\${ .left }"}
  transition: SendAll
- name: SendAll
  type: subflow
  workflowId: portion
  repeat:
    expression: "\${ .left > 0 }"
    max: 20
    stopOnEvents: [Stop]
  onErrors:
  - {error: "*", transition: Broken}
  transition: Report
- name: Broken
  type: inject
  data: {broken: true}
  transition: Report
- name: Report
  type: operation
  actions:
  - functionRef: {refName: report, arguments: {list: "\${ .list }", left: "\${ .left }"}}
    actionDataFilter: {toStateData: "\${ .report }"}
  end: true
`,ke=`subscribers: {result: {total: 250}}
send: {result: {ok: true}}
report: {result: {id: 1}}
`,Ae=`# A hundred letters at most, then a pause: what the workflow newsletter runs again and again.
id: portion
name: Send one portion
version: "1.0"
specVersion: "0.6"
start: Send
functions:
- {name: send, operation: https://news.example.com/portions}
states:
- name: Send
  type: operation
  actions:
  - functionRef: {refName: send, arguments: {list: "\${ .list }", number: "\${ [.left, 100] | min }"}}
    timeout: PT5M
    actionDataFilter: {toStateData: "\${ .sent }"}
  stateDataFilter: {output: "\${ {list, left: ([.left - 100, 0] | max)} }"}
  transition: Rest
- {name: Rest, type: delay, timeDelay: PT10M, end: true}
`,je=`document:
  dsl: "1.0.3"
  namespace: people
  name: account
  version: "1.2.0"
  title: Account
do:
- reserve:
    try:
    - create:
        call: http
        with:
          method: post
          endpoint: https://accounts.example.com/logins
          body: {login: "\${ .login }"}
        output: {as: "$input + {account: .id}"}
    catch:
      errors:
        with: {status: 409}
      do:
      - rename:
          set: '\${ . + {login: (.login + "x")} }'
      then: reserve
`,Me=`document:
  dsl: "1.0.3"
  namespace: people
  name: onboarding
  version: "1.0.0"
  title: Onboarding
do:
- account:
    run:
      workflow:
        namespace: people
        name: account
        version: "1.2.0"
        input: {login: "\${ .name | ascii_downcase }"}
    output: {as: "$input + ."}
- equip:
    fork:
      branches:
      - desk:
          call: http
          with:
            method: post
            endpoint: https://office.example.com/desks
          output: {as: .number}
      - badge:
          call: http
          with:
            method: post
            endpoint: https://office.example.com/badges
          output: {as: .code}
    output: {as: "$input + {desk: .[0], badge: .[1]}"}
- welcome:
    emit:
      event:
        with:
          type: people.welcome
          data: \${ . }
    output: {as: .data}
`,Ne=`create:
- {error: {name: Taken, status: 409}}
- {result: {id: a-2}}
desk: {result: {number: 12}}
badge: {delay: P1D, result: {code: b-7}}
`,Pe=`# Undo what was done, newest first, when the last step fails.
id: order
name: Take an order, or take it back
version: "1.0"
functions:
- name: reserve
- name: release
- name: charge
- name: refund
- name: ship
- name: apologise
events:
- name: Shipped
  type: order.shipped
  kind: produced
states:
- name: Reserve
  type: operation
  start:
    kind: default
  actions:
  - functionRef:
      refName: reserve
      parameters: {item: "{{ $.item }}"}
    actionDataFilter:
      dataResultsPath: "{{ $.reservation }}"
  compensatedBy: Release
  transition:
    nextState: Charge

- name: Charge
  type: operation
  actions:
  - functionRef:
      refName: charge
      parameters: {customer: "{{ $.customer }}", amount: "{{ $.amount }}"}
    actionDataFilter:
      dataResultsPath: "{{ $.payment }}"
  compensatedBy: Refund
  transition:
    nextState: Ship

- name: Ship
  type: operation
  actions:
  - functionRef:
      refName: ship
      parameters: {item: "{{ $.item }}", to: "{{ $.customer }}"}
    actionDataFilter:
      dataResultsPath: "{{ $.parcel }}"
  onErrors:
  - error: NotDeliverable
    transition:
      compensateBefore: true
      nextState: Apologise
  end:
    kind: event
    produceEvents:
    - eventRef: Shipped
      data: {item: "{{ $.item }}", parcel: "{{ $.parcel }}"}

- name: Apologise
  type: operation
  actions:
  - functionRef:
      refName: apologise
      parameters: {to: "{{ $.customer }}", refund: "{{ $.refund }}"}
  end:
    kind: default

# Compensating states stand outside of the normal flow: nothing leads to them.
- name: Release
  type: operation
  usedForCompensation: true
  actions:
  - functionRef:
      refName: release
      parameters: {reservation: "{{ $.reservation }}"}

- name: Refund
  type: operation
  usedForCompensation: true
  actions:
  - functionRef:
      refName: refund
      parameters: {payment: "{{ $.payment }}"}
    actionDataFilter:
      dataResultsPath: "{{ $.refund }}"
`,Fe=`reserve: {result: {reservation: v-1}}
charge: {result: {payment: p-1}}
ship: {error: {name: NotDeliverable}}
refund: {result: {refund: b-1}}
release: {result: {}}
apologise: {result: {}}
`,Ie=`# Wait for thirty days, then remind. The wait costs nothing: no process sleeps.
id: reminder
name: Remind a customer of an open invoice
version: "1.0"
functions:
- name: sendReminder
states:
- name: WaitAMonth
  type: delay
  start:
    kind: default
  timeDelay: P30D
  transition:
    nextState: Remind

- name: Remind
  type: operation
  actions:
  - functionRef:
      refName: sendReminder
      parameters:
        to: "{{ $.email }}"
        text: "Invoice {{ $.invoice.number }} over {{ $.invoice.amount }} is still open."
    actionDataFilter:
      dataResultsPath: "{{ $.sent }}"
  end:
    kind: default
`,Le=`sendReminder: {result: {sent: true}}
`,Re=`# A call that is tried again after 1, 3, 5 and 7 minutes: four retries in
# sixteen minutes. When they are used up, the error's own transition is taken.
id: retry
name: Charge a card with patience
version: "1.0"
functions:
- name: charge
- name: notifySupport
retries:
- name: patient
  delay: PT1M
  multiplier: PT2M
  maxAttempts: 4
states:
- name: Charge
  type: operation
  start:
    kind: default
  actions:
  - functionRef:
      refName: charge
      parameters:
        card: "{{ $.card }}"
        amount: "{{ $.amount }}"
    actionDataFilter:
      dataResultsPath: "{{ $.receipt }}"
  onErrors:
  - error: ServiceUnavailable
    code: "503"
    retryRef: patient
    transition:
      nextState: AskForHelp
  end:
    kind: default

- name: AskForHelp
  type: operation
  actions:
  - functionRef:
      refName: notifySupport
      parameters:
        text: "Card {{ $.card }} could not be charged."
  end:
    kind: default
`,ze=`charge:
- {error: {name: ServiceUnavailable, code: "503"}}
- {error: {name: ServiceUnavailable, code: "503"}}
- {result: {receipt: r-99}}
`,Be=`# Invoices are sent two at a time. A policy says once how calls are repeated and what an error is called.
name: invoices
version: "1.0.0"
specVersion: "0.9"
start: send-all
events:
- {name: batch-done, source: billing, type: invoices.sent}
functions:
- name: post
  type: http
  operation: {method: POST, uri: "https://post.example.com/letters/{number}"}
- name: book
  type: http
  operation: {method: POST, uri: https://books.example.com/entries}
errors:
  definitions:
  - {name: down, type: communication, status: 503}
  - {name: books-closed, type: https://billing.example.com/errors/books-closed, status: 409, title: The books are closed}
  handlers:
  - {name: try-again, when: [{refName: down}], retry: patient, then: {throw: true}}
  - {name: closed, when: [{status: 423}], then: {throw: {refName: books-closed}}}
  policies:
  - {name: calls, handlers: [{refName: try-again}, {refName: closed}]}
retries:
- {name: patient, delay: PT1M, increment: PT1M, maxAttempts: 2}
states:
- name: send-all
  type: foreach
  inputCollection: "\${ .invoices }"
  outputCollection: "\${ .sent }"
  iterationParam: invoice
  mode: parallel
  batchSize: 2
  actions:
  - name: post
    functionRef:
      refName: post
      arguments: {number: "\${ $invoice.number }", body: {to: "\${ $invoice.to }"}}
    onErrors: calls
    actionDataFilter: {results: "\${ .letter }"}
  onErrors:
  - when: [{refName: down}]
    then: {transition: by-hand}
  transition: enter
- name: enter
  type: operation
  actions:
  - name: book
    functionRef: {refName: book, arguments: {body: {letters: "\${ .sent }"}}}
    onErrors: calls
    actionDataFilter: {useResults: false}
  - name: tell
    publish: {event: batch-done, data: "\${ {sent} }"}
  onErrors:
  - when: [{refName: books-closed}]
    then: {transition: next-month}
  end: true
- name: next-month
  type: inject
  data: {booked: false}
  end: true
- name: by-hand
  type: inject
  data: {byHand: true}
  end: true
`,Ve=`post:
- {error: {status: 503}}
- {result: {letter: l-1}}
- {result: {letter: l-2}}
book: {result: {entry: 1}}
`,He=`# An order is reserved, paid and sent. Each call that cannot be made at the moment is tried again by itself;
# when the order cannot be completed, what was done before is undone, newest first.
id: web-order
name: Take an order
version: "1.0"
specVersion: "0.8"
start: Reserve
events:
- {name: Shipped, source: shop, type: order.shipped, kind: produced}
functions:
- {name: reserve, operation: https://stock.example.com/reservations}
- {name: release, operation: https://stock.example.com/releases}
- {name: charge, operation: https://pay.example.com/charges}
- {name: refund, operation: https://pay.example.com/refunds}
- {name: ship, operation: https://parcels.example.com/parcels}
- {name: apologise, operation: https://mail.example.com/apologies}
errors:
- {name: Unavailable, code: "503"}
- {name: CardDeclined, code: "402"}
- {name: NotDeliverable}
retries:
- {name: patient, delay: PT1M, maxDelay: PT3M, multiplier: 2, maxAttempts: 3}
states:
- name: Reserve
  type: operation
  actions:
  - functionRef: {refName: reserve, arguments: {item: "\${ .item }"}}
    retryRef: patient
    retryableErrors: [Unavailable]
    actionDataFilter: {results: "\${ .id }", toStateData: "\${ .reservation }"}
  compensatedBy: Release
  transition: Charge
- name: Charge
  type: operation
  actions:
  - functionRef: {refName: charge, arguments: {card: "\${ .card }", amount: "\${ .amount }"}}
    retryRef: patient
    retryableErrors: [Unavailable]
    actionDataFilter: {results: "\${ .id }", toStateData: "\${ .payment }"}
  onErrors:
  - errorRefs: [CardDeclined, Unavailable]
    transition: {nextState: Apologise, compensate: true}
  compensatedBy: Refund
  transition: Ship
- name: Ship
  type: operation
  actions:
  - functionRef: {refName: ship, arguments: {reservation: "\${ .reservation }", to: "\${ .customer }"}}
    actionDataFilter: {results: "\${ .id }", toStateData: "\${ .parcel }"}
  onErrors:
  - errorRef: NotDeliverable
    transition: {nextState: Apologise, compensate: true}
  end:
    produceEvents:
    - {eventRef: Shipped, data: "\${ {item, parcel} }"}
- name: Refund
  type: operation
  usedForCompensation: true
  actions:
  - functionRef: {refName: refund, arguments: {payment: "\${ .payment }"}}
    actionDataFilter: {results: "\${ .id }", toStateData: "\${ .refund }"}
- name: Release
  type: operation
  usedForCompensation: true
  actions:
  - functionRef: {refName: release, arguments: {reservation: "\${ .reservation }"}}
    actionDataFilter: {useResults: false}
- name: Apologise
  type: operation
  actions:
  - functionRef: {refName: apologise, arguments: {to: "\${ .customer }", refund: "\${ .refund }"}}
    actionDataFilter: {useResults: false}
  end: true
`,Ue=`reserve: {result: {id: v-1}}
charge:
- {error: {name: Overloaded, code: "503"}}
- {result: {id: p-1}}
ship: {error: {name: NotDeliverable}}
refund: {result: {id: b-1}}
release: {result: {}}
apologise: {result: {}}
`,We=`# A document goes to a reviewer, back to its author and again to the reviewer, as often as it takes; who does not
# answer within three days is reminded, and after two weeks it is over.
id: review
name: Review a document
version: "1.0"
specVersion: "0.7"
start: Ask
timeouts:
  workflowExecTimeout: {duration: P14D, interrupt: true, runBefore: GiveUp}
events:
- name: Reviewed
  source: desk
  type: document.reviewed
  correlation:
  - {contextAttributeName: documentid, contextAttributeValue: "\${ .document }"}
- {name: Published, source: desk, type: document.published, kind: produced}
functions:
- {name: sendForReview, operation: https://desk.example.com/reviews}
- {name: askForChanges, operation: https://desk.example.com/changes}
- {name: remind, operation: https://mail.example.com/reminders}
- {name: giveUp, operation: https://mail.example.com/expired}
states:
- name: Ask
  type: callback
  action:
    functionRef: {refName: sendForReview, arguments: {document: "\${ .document }", round: "\${ .round }"}}
    actionDataFilter: {toStateData: "\${ .sent }"}
  eventRef: Reviewed
  timeouts: {eventTimeout: P3D}
  transition: Decide
- name: Decide
  type: switch
  dataConditions:
  - {name: approved, condition: '\${ .verdict == "approved" }', transition: Publish}
  - {name: changes, condition: '\${ .verdict == "changes" }', transition: Revise}
  defaultCondition: {transition: Remind}
- name: Remind
  type: operation
  actions:
  - functionRef: {refName: remind, arguments: {document: "\${ .document }"}}
    actionDataFilter: {toStateData: "\${ .reminded }"}
  transition: Ask
- name: Revise
  type: operation
  actions:
  - functionRef: {refName: askForChanges, arguments: {document: "\${ .document }", remarks: "\${ .remarks }"}}
    actionDataFilter: {toStateData: "\${ .changed }"}
  stateDataFilter: {output: "\${ del(.verdict, .remarks) | .round += 1 }"}
  transition: Ask
- name: Publish
  type: inject
  data: {published: true}
  stateDataFilter: {output: "\${ {document, round, published} }"}
  end:
    produceEvents:
    - {eventRef: Published, data: "\${ {document} }"}
- name: GiveUp
  type: operation
  actions:
  - functionRef: {refName: giveUp, arguments: {document: "\${ .document }"}}
    actionDataFilter: {toStateData: "\${ .told }"}
  stateDataFilter: {output: "\${ {document, round, told} }"}
  end: true
`,Ge=`- {at: PT5H, event: {type: document.reviewed, source: desk, id: e2, documentid: d-1, data: {verdict: changes, remarks: too long}}}
- {at: P2D, event: {type: document.reviewed, source: desk, id: e3, documentid: d-1, data: {verdict: approved}}}
`,Ke=`sendForReview: {result: {queued: true}}
askForChanges: {delay: P1D, result: {lines: 12}}
remind: {result: {sent: true}}
giveUp: {result: {mails: 2}}
`,qe=`# The first reading of a sensor starts an instance, and all further ones of that sensor go to it. After a week
# it sums up what it saw.
id: heat-alarm
name: Watch a sensor
version: "1.0"
specVersion: "0.8"
start: Reading
keepActive: true
constants: {tooHot: 70}
timeouts:
  workflowExecTimeout: {duration: P7D, runBefore: SumUp}
events:
- name: Measured
  source: boiler-room
  type: sensor.measured
  correlation:
  - {contextAttributeName: sensorid}
functions:
- {name: count, type: expression, operation: "\${ (.count // 0) + 1 }"}
- {name: highest, type: expression, operation: "\${ [.highest, .reading.celsius] | max }"}
- {name: alarm, operation: https://duty.example.com/alarms}
- {name: report, operation: https://mail.example.com/reports}
states:
- name: Reading
  type: event
  onEvents:
  - eventRefs: [Measured]
    actions:
    - functionRef: count
      actionDataFilter: {toStateData: "\${ .count }"}
    - functionRef: highest
      actionDataFilter: {toStateData: "\${ .highest }"}
    eventDataFilter: {toStateData: "\${ .reading }"}
  transition: HowHot
- name: HowHot
  type: switch
  dataConditions:
  - {name: too hot, condition: "\${ .reading.celsius > $CONST.tooHot }", transition: Alarm}
  defaultCondition: {end: true}
- name: Alarm
  type: operation
  actions:
  - functionRef: {refName: alarm, arguments: {celsius: "\${ .reading.celsius }"}, invoke: async}
  end: true
- name: SumUp
  type: operation
  actions:
  - functionRef: {refName: report, arguments: {readings: "\${ .count }", highest: "\${ .highest }"}}
    actionDataFilter: {useResults: false}
  stateDataFilter: {output: "\${ {count, highest} }"}
  end: true
`,Je=`- {event: {type: sensor.measured, source: boiler-room, id: e1, sensorid: s-1, data: {celsius: 60}}}
- {at: P1D, event: {type: sensor.measured, source: boiler-room, id: e2, sensorid: s-1, data: {celsius: 75}}}
`,Ye=`alarm: {result: {called: Grace}}
report: {result: {}}
`,Xe=`{
  "id": "ticket",
  "name": "Open a ticket",
  "version": "1.0",
  "specVersion": "0.8",
  "start": "LookUp",
  "functions": [
    {
      "name": "customer",
      "type": "custom",
      "operation": "rest:get:https://crm.example.com/customers/{id}"
    },
    {
      "name": "open",
      "type": "custom",
      "operation": "rest:post:https://desk.example.com/tickets"
    },
    {
      "name": "logInfo",
      "type": "custom",
      "operation": "sysout:INFO"
    }
  ],
  "errors": [
    {
      "name": "unknown customer",
      "code": "HTTP:404"
    }
  ],
  "states": [
    {
      "name": "LookUp",
      "type": "operation",
      "actions": [
        {
          "name": "ask the customers' database",
          "functionRef": {
            "refName": "customer",
            "arguments": {
              "id": "\${ .customer }"
            }
          },
          "actionDataFilter": {
            "results": "\${ {tier, mail} }"
          }
        }
      ],
      "onErrors": [
        {
          "errorRef": "unknown customer",
          "transition": "Unknown"
        }
      ],
      "transition": "HowUrgent"
    },
    {
      "name": "HowUrgent",
      "type": "switch",
      "dataConditions": [
        {
          "name": "gold",
          "condition": ".tier == \\"gold\\"",
          "transition": "Urgent"
        }
      ],
      "defaultCondition": {
        "transition": "Open"
      }
    },
    {
      "name": "Urgent",
      "type": "inject",
      "data": {
        "priority": 1
      },
      "transition": "Open"
    },
    {
      "name": "Open",
      "type": "operation",
      "actions": [
        {
          "functionRef": {
            "refName": "open",
            "arguments": {
              "mail": "\${ .mail }",
              "text": "\${ .text }",
              "priority": "\${ .priority // 3 }"
            }
          },
          "actionDataFilter": {
            "results": "\${ .number }",
            "toStateData": "\${ .ticket }"
          }
        },
        {
          "functionRef": {
            "refName": "logInfo",
            "arguments": {
              "message": "\${ \\"ticket \\\\(.ticket) for \\\\(.mail)\\" }"
            }
          }
        }
      ],
      "end": true
    },
    {
      "name": "Unknown",
      "type": "operation",
      "actions": [
        {
          "functionRef": {
            "refName": "logInfo",
            "arguments": {
              "message": "\${ \\"no customer \\\\(.customer)\\" }"
            }
          }
        }
      ],
      "end": true
    }
  ]
}
`,Ze=`customer: {result: {tier: gold, mail: ada@example.com, phone: "1"}}
open: {result: {number: 7}}
`,Qe=`# The smallest useful workflow: one task, no calls.
#
#   go run ./cmd/lockstep run examples/v10/greet.yaml --input '{"name":"Ada"}'
document:
  dsl: "1.0.3"
  namespace: default
  name: greet
  version: "1.0.0"
  title: Greet someone by name
do:
- greet:
    set:
      greeting: \${ "Hello, " + .name }
`,$e=`document:
  dsl: "1.0.3"
  namespace: billing
  name: invoices
  version: "1.0.0"
  title: Nightly batch
schedule:
  cron: 0 2 * * *
do:
- due:
    call: http
    with:
      method: get
      endpoint: https://billing.example.com/invoices
      query: {state: due}
    output: {as: "{invoices: ., sent: []}"}
- send:
    for: {each: invoice, in: .invoices, at: "n"}
    while: $n < 3
    do:
    - mail:
        try:
        - letter:
            call: http
            with:
              method: post
              endpoint: https://mail.example.com/letters
              body: {to: "\${ $invoice.customer }", invoice: "\${ $invoice.number }"}
            output: {as: "$input + {sent: ($input.sent + [$invoice.number])}"}
        catch:
          errors:
            with: {type: https://open-workflow-specification.org/spec/1.0.0/errors/communication}
          retry:
            delay: PT1M
            backoff: {linear: {}}
            limit: {attempt: {count: 3}}
          do:
          - skip:
              set: \${ . }
- report:
    set:
      sent: \${ .sent }
      left: \${ [.invoices[].number] - .sent }
`,et=`due: {result: [{number: 1, customer: ada}, {number: 2, customer: bob}]}
letter:
- {error: {name: Unavailable, status: 503}}
- {result: {}}
`,tt=`document:
  dsl: "1.0.3"
  namespace: people
  name: leave
  version: "1.0.0"
  title: Approval with a deadline
input:
  schema:
    document:
      type: object
      required: [request, employee, days]
do:
- ask:
    emit:
      event:
        with:
          type: people.leave.requested
          data: \${ . }
    output: {as: $input}
- answer:
    try:
    - decision:
        listen:
          to:
            one:
              with: {type: people.leave.decided}
              correlate:
                request: {from: .data.request, expect: "\${ .request }"}
        output: {as: "$input + .[0]"}
        timeout: {after: P2D}
    catch:
      errors:
        with: {status: 408}
      do:
      - expire:
          set: '\${ . + {approved: false, by: "nobody"} }'
- decided:
    switch:
    - granted: {when: .approved, then: book}
    - refused: {then: tell}
- book:
    call: http
    with:
      method: post
      endpoint: https://calendar.example.com/employees/{employee}/absences
      body: {days: "\${ .days }"}
    output: {as: $input}
- tell:
    emit:
      event:
        with:
          type: people.leave.answered
          data: {employee: "\${ .employee }", approved: "\${ .approved }", by: "\${ .by }"}
    output: {as: .data}
`,nt=`- at: P1D
  event: {type: people.leave.decided, source: desk, id: e1, data: {request: r-1, approved: true, by: grace}}
`,rt=`book: {result: {}}
`,it=`document:
  dsl: "1.0.3"
  namespace: shop
  name: order
  version: "1.0.0"
  title: Order with compensation
do:
- reserve:
    call: http
    with:
      method: post
      endpoint: https://stock.example.com/reservations
      body: {item: "\${ .item }", count: "\${ .count }"}
    output: {as: "$input + {reservation: .id}"}
- pay:
    try:
    - charge:
        call: http
        with:
          method: post
          endpoint: https://bank.example.com/charges
          body: {card: "\${ .card }", amount: "\${ .amount }"}
        output: {as: "$input + {receipt: .receipt}"}
    catch:
      errors:
        with: {type: https://open-workflow-specification.org/spec/1.0.0/errors/communication}
      as: problem
      retry:
        when: $problem.status >= 500
        delay: PT10S
        backoff: {exponential: {}}
        limit: {attempt: {count: 2}}
      do:
      - release:
          call: http
          with:
            method: delete
            endpoint: https://stock.example.com/reservations/{reservation}
          output: {as: "$input + {reason: $problem.status}"}
      - tell:
          emit:
            event:
              with:
                type: shop.order.refused
                data: {item: "\${ .item }", reason: "\${ .reason }"}
          output: {as: "{item: $input.item, refused: true}"}
      then: end
- confirm:
    set: {item: "\${ .item }", receipt: "\${ .receipt }"}
`,at=`reserve: {result: {id: r-1}}
charge:
- {error: {name: Unavailable, status: "503"}}
- {error: {name: Refused, status: "402"}}
release: {result: {}}
`,ot=`document:
  dsl: "1.0.3"
  namespace: default
  name: party
  version: "1.0.0"
  title: Collecting answers
input:
  from: .[0]
schedule:
  on:
    one:
      with: {type: party.planned}
do:
- invite:
    for: {each: guest, in: .guests}
    do:
    - write:
        emit:
          event:
            with:
              type: party.invitation
              data: {party: "\${ $workflow.input[0].party }", guest: "\${ $guest }"}
    output: {as: $input}
    export: {as: "{yes: [], no: []}"}
- answers:
    listen:
      to:
        any:
        - with: {type: party.answer}
          correlate:
            party: {from: .data.party, expect: "\${ .party }"}
        until:
          one:
            with: {type: party.closed}
            correlate:
              party: {from: .data.party, expect: "\${ .party }"}
    foreach:
      item: answer
      do:
      - count:
          switch:
          - coming: {when: $answer.coming, then: add}
          - staying: {then: strike}
      - add:
          set: \${ $context | .yes += [$answer.guest] }
          export: {as: "."}
          then: exit
      - strike:
          set: \${ $context | .no += [$answer.guest] }
          export: {as: "."}
- list:
    set: \${ $context }
`,st=`- event: {type: party.planned, source: me, id: e1, data: {party: p1, guests: [Ada, Bob]}}
- at: PT1H
  event: {type: party.answer, source: ada, id: e2, data: {party: p1, guest: Ada, coming: true}}
- at: PT3H
  event: {type: party.answer, source: bob, id: e3, data: {party: p1, guest: Bob, coming: false}}
- at: P1D
  event: {type: party.closed, source: me, id: e4, data: {party: p1}}
`,ct=`document:
  dsl: "1.0.3"
  namespace: billing
  name: reminders
  version: "1.0.0"
  title: Reminders
use:
  functions:
    letter:
      input:
        schema:
          document: {type: object, required: [to, tone]}
      call: http
      with:
        method: post
        endpoint: https://mail.example.com/letters
        body: \${ . }
    paid:
      call: http
      with:
        method: get
        endpoint: https://billing.example.com/invoices/{number}
      output: {as: .state == "paid"}
do:
- remind:
    for: {each: tone, in: [friendly, firm, last]}
    do:
    - write:
        call: letter
        with: {to: "\${ .customer }", tone: "\${ $tone }"}
        output: {as: $input}
    - grace:
        wait: P14D
    - check:
        call: paid
        with: {number: "\${ .number }"}
        output: {as: "$input + {paid: .}"}
    - settled:
        switch:
        - paid: {when: .paid, then: end}
        - open: {then: exit}
- collect:
    call: letter
    with: {to: collection agency, tone: formal}
    output: {as: $input}
`,lt=`letter: {result: {}}
paid:
- {result: {state: open}}
- {result: {state: paid}}
`,ut=`document:
  dsl: "1.0.3"
  namespace: default
  name: sensor
  version: "1.0.0"
  title: Sensor
do:
- readings:
    listen:
      to:
        any:
        - with: {type: room.temperature}
          correlate:
            room: {from: .data.room, expect: "\${ .room }"}
        until: length == 3 or last.celsius > 40
    foreach:
      item: reading
      do:
      - judge:
          switch:
          - hot: {when: $reading.celsius > 30, then: warn}
          - usual: {then: exit}
      - warn:
          emit:
            event:
              with:
                type: room.warning
                data: \${ $reading }
      output: {as: $reading.celsius}
- summary:
    set:
      room: \${ $workflow.input.room }
      readings: \${ . }
      average: \${ add / length }
`,dt=`- at: PT1M
  event: {type: room.temperature, source: attic-1, id: e1, data: {room: attic, celsius: 21}}
- at: PT2M
  event: {type: room.temperature, source: attic-1, id: e2, data: {room: attic, celsius: 33}}
- at: PT3M
  event: {type: room.temperature, source: attic-1, id: e3, data: {room: attic, celsius: 27}}
`,ft=`document:
  dsl: "1.0.3"
  namespace: shop
  name: suppliers
  version: "1.0.0"
  title: Two suppliers
do:
- choose:
    try:
    - ask:
        fork:
          compete: true
          branches:
          - north:
              call: http
              with:
                method: get
                endpoint: https://north.example.com/offers/{item}
              output: {as: "{supplier: \\"north\\", price: .price}"}
          - south:
              call: http
              with:
                method: get
                endpoint: https://south.example.com/offers/{item}
              output: {as: "{supplier: \\"south\\", price: .price}"}
        timeout: {after: PT30S}
    catch:
      errors:
        with: {type: https://open-workflow-specification.org/spec/1.0.0/errors/timeout}
      do:
      - nobody:
          set: {supplier: null}
    output: {as: "$input + ."}
- order:
    if: .supplier != null
    call: http
    with:
      method: post
      endpoint: https://{supplier}.example.com/orders
      body: {item: "\${ .item }", price: "\${ .price }"}
    output: {as: "$input + {order: .number}"}
`,pt=`north: {delay: PT8S, result: {price: 40}}
south: {delay: PT5S, result: {price: 42}}
order: {result: {number: 17}}
`,mt=`document:
  dsl: "1.0.3"
  namespace: bank
  name: transfer
  version: "1.0.0"
  title: Audited calls
use:
  extensions:
  - audit:
      extend: call
      before:
      - calls:
          emit:
            event:
              with:
                type: bank.audit
                data: {task: "\${ $task.name }", what: calls, amount: "\${ .amount }"}
      after:
      - called:
          emit:
            event:
              with:
                type: bank.audit
                data: {task: "\${ $task.name }", what: called}
do:
- debit:
    call: http
    with:
      method: post
      endpoint: https://bank.example.com/accounts/{from}/debits
      body: {amount: "\${ .amount }"}
    output: {as: $input}
- credit:
    call: http
    with:
      method: post
      endpoint: https://bank.example.com/accounts/{to}/credits
      body: {amount: "\${ .amount }"}
    output: {as: $input}
`,ht=`debit: {result: {}}
credit: {result: {}}
`,gt=`id: parcel
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
`,z={definition:``,input:``,mocks:``,events:``,takes:``,files:{}},B=e=>(t,n,r)=>({name:t,title:n,language:e,texts:{...z,...r}}),V=B(`Open Workflow 1.0`),H=B(`Serverless Workflow 0.6 to 0.9`),U=B(`Serverless Workflow 0.1 and 0.2`),W=B(`Serverless Workflow 0.5`),_t=B(`Jobs`),G=[V(`greet`,`Greet somebody`,{definition:Qe,input:`name: Ada
`}),V(`pay`,`Pay an order, or release what was reserved`,{definition:it,input:`item: lamp
count: 2
card: c-1
amount: 40
`,mocks:at}),V(`suppliers`,`Take the first answer of two`,{definition:ft,input:`item: lamp
`,mocks:pt}),V(`leave`,`Wait for a decision, two days at most`,{definition:tt,input:`request: r-1
employee: ada
days: 5
`,mocks:rt,events:nt}),V(`invoices`,`Send letters every night`,{definition:$e,mocks:et}),V(`sensor`,`Judge readings as they come`,{definition:ut,input:`room: attic
`,events:dt}),V(`party`,`Collect answers until an event`,{definition:ot,events:st}),V(`transfer`,`Extend every call`,{definition:mt,input:`from: a
to: b
amount: 40
`,mocks:ht}),V(`reminders`,`Call functions of the definition`,{definition:ct,input:`number: 7
customer: ada
`,mocks:lt}),V(`onboarding10`,`Run another workflow`,{definition:Me,input:`name: Ada
`,mocks:Ne,files:{"account.yaml":je}}),V(`empty`,`Begin with nothing`,{definition:`document:
  dsl: 1.0.3
  namespace: default
  name: mine
  version: 1.0.0
do:
- first:
    set: {hello: world}
`}),H(`order08`,`Take an order, or take it back (0.8)`,{definition:He,input:`item: lamp
customer: Ada
card: c-1
amount: 30
`,mocks:Ue}),H(`sensor08`,`Watch a sensor for a week (0.8)`,{definition:qe,mocks:Ye,events:Je}),H(`ticket08`,`Open a ticket, as written for SonataFlow (0.8)`,{definition:Xe,input:`customer: c-1
text: It does not blink
`,mocks:Ze}),H(`review07`,`Review a document, two weeks at most (0.7)`,{definition:We,input:`document: d-1
round: 1
`,mocks:Ke,events:Ge}),H(`invoices09`,`Send invoices in batches (0.9)`,{definition:Be,input:`invoices: [{number: 1, to: ada}, {number: 2, to: bo}]
`,mocks:Ve}),H(`newsletter06`,`Run a sub-workflow until nobody is left (0.6)`,{definition:Oe,input:`list: weekly
`,mocks:ke,files:{"portion.yaml":Ae}}),W(`hello`,`Greet somebody`,{definition:le,input:`name: Ada
`}),W(`order`,`Take an order, or take it back`,{definition:Pe,input:`item: lamp
customer: Ada
amount: 30
`,mocks:Fe}),W(`retry`,`Try again with patience`,{definition:Re,input:`card: c-1
amount: 30
`,mocks:ze}),W(`reminder`,`Wait thirty days`,{definition:Ie,input:`email: ada@example.com
invoice: {number: 7, amount: 30}
`,mocks:Le}),W(`approval`,`Have a person decide`,{definition:oe,input:`request: q-1
`,mocks:ce,events:se}),W(`monitor`,`Begin with an event`,{definition:de,mocks:pe,events:fe}),W(`account`,`Do things side by side`,{definition:I,input:`login: ada
name: Ada
`,mocks:L}),W(`onboarding`,`Run another workflow, and handle its errors`,{definition:me,input:`name: Ada
login: ada
`,mocks:he,files:{"account.yaml":I}}),U(`approve01`,`Ask until there is an answer (0.1)`,{definition:R,input:`who: Ada
`,mocks:ge}),U(`translation01`,`Have a text translated and read (0.1, with hyphens)`,{definition:be,mocks:Se,events:xe}),U(`home01`,`Watch a house (0.1, its first draft)`,{definition:_e,mocks:ye,events:ve}),U(`travel01`,`Book a journey, with a sub-workflow (0.1)`,{definition:Ce,input:`who: Ada
to: Lisbon
nights: 3
`,mocks:we,files:{"approve.yaml":R}}),U(`customs02`,`Declare a parcel, and wait for the duty (0.1 as released)`,{definition:Te,input:`parcelid: p-1
value: 900
gift: false
`,mocks:De,events:Ee}),U(`parcel02`,`Tell where a parcel is (0.2)`,{definition:gt,input:`parcel: p-1
`,mocks:`locate: {result: {distance: 3}}
`}),_t(`kanban`,`Move a job over a board`,{definition:ue,input:`title: A button that does nothing
`,takes:`- {actor: CLIENT, state: DOING}
- {at: PT2H, actor: CLIENT, state: DOING, progress: 60, message: it blinks}
- {at: PT6H, actor: CLIENT, state: REVIEW, progress: 100}
- {at: P1D, actor: WFX, state: SHIPPED, message: thank you}
`})],vt=`play=`,yt=4<<20;async function bt(e){let t=Object.fromEntries(Object.entries(e).filter(([,e])=>typeof e==`string`?e:Object.keys(e).length)),n=new Blob([JSON.stringify(t)]).stream().pipeThrough(new CompressionStream(`deflate-raw`)),r=new Uint8Array(await new Response(n).arrayBuffer()),i=``;for(let e of r)i+=String.fromCharCode(e);let a=vt+btoa(i).replace(/\+/g,`-`).replace(/\//g,`_`).replace(/=+$/,``);return a.length>32e3?null:a}var xt=e=>e.startsWith(`#play=`);async function St(e){let t=Error(`This link is not whole: it was cut, or changed on its way. Ask for it again.`),n=``;try{let r=atob(e.slice(6).replace(/-/g,`+`).replace(/_/g,`/`)),i=Uint8Array.from(r,e=>e.charCodeAt(0)),a=new Blob([i]).stream().pipeThrough(new DecompressionStream(`deflate-raw`)).getReader(),o=new TextDecoder(`utf-8`,{fatal:!0});for(let e=0;;){let{done:r,value:i}=await a.read();if(r)break;if(e+=i.length,e>yt)throw t;n+=o.decode(i,{stream:!0})}n+=o.decode();let s=JSON.parse(n),c=e=>e===void 0||typeof e==`string`,{definition:l,input:u,mocks:d,events:f,takes:p,files:m}=s;if(typeof l!=`string`||![u,d,f,p].every(c)||m!==void 0&&(typeof m!=`object`||!m||!Object.values(m).every(e=>typeof e==`string`)))throw t;return{...z,definition:l,input:u??``,mocks:d??``,events:f??``,takes:p??``,files:m??{}}}catch{throw t}}var K=`lockstep-playground-link:`,Ct=10,q=new Map;async function wt(e,t){let n=(crypto.subtle?[...new Uint8Array(await crypto.subtle.digest(`SHA-256`,new TextEncoder().encode(e)))]:[...e].reduce((e,t)=>[e[0]*31+t.charCodeAt(0)>>>0],[7])).slice(0,6).map(e=>e.toString(16).padStart(2,`0`)).join(``);q.set(n,t);try{let e=Object.keys(localStorage).filter(e=>e.startsWith(K));for(let t of e.slice(0,Math.max(0,e.length-Ct+1)))localStorage.removeItem(t);localStorage.setItem(K+n,JSON.stringify(t))}catch{}return n}function Tt(e){try{return q.get(e)??JSON.parse(localStorage.getItem(K+e)??`null`)}catch{return null}}function Et(n){let[r,a]=_(),[o,s]=_(``),c=t(null);return M(()=>{bt(n.texts).then(e=>a(e&&`${location.origin}/playground#${e}`),()=>a(null))},[]),e(y,{title:`Share by link`,leave:`Close`,action:`Copy the link`,onClose:n.onClose,onSubmit:r?async()=>{c.current?.select();try{await navigator.clipboard.writeText(r),s(`The link is copied.`),i(`The link is copied`)}catch{s(`The link is selected: copy it with Ctrl+C.`)}}:void 0,children:[r===void 0&&e(`p`,{class:`quiet`,children:`Packing…`}),r===null&&e(`div`,{class:`problem`,role:`alert`,children:e(`p`,{children:[`This is too much for a link: packed it has more than `,h(32e3),` characters, which mail and chat programs cut. Save a scenario and send the files, or deploy it.`]})}),r&&e(g,{children:[e(`p`,{children:`Whoever opens it gets the definition, its files, the input, the mocks and the events as they are now. The link itself has all of it: no server keeps it.`}),e(`label`,{class:`field`,children:[e(`span`,{children:`Link`}),e(`input`,{ref:c,readOnly:!0,value:r,onFocus:e=>e.currentTarget.select()})]}),e(`p`,{class:`quiet`,role:`status`,children:o||`${h(r.length)} characters`})]})]})}function Dt(t){let[r,a]=_(`as tried out in the playground`),[o,c]=_(),[l,u]=_(),[d,f]=_(!1),p=async()=>{f(!0),u(void 0);try{let{data:e}=await s(`/api/v1/playground`,{body:{...t.texts,scenario:r.trim()||`it runs`}});if(!e.scenario)throw Error(`The definition has errors: correct them first.`);c(e),i(`The scenario is ready`)}catch(e){u(e)}f(!1)},{scenario:m}=o??{};if(!m)return e(y,{title:`Save as a scenario`,action:`Run and write it`,leave:`Cancel`,busy:d,onClose:t.onClose,onSubmit:p,children:[e(`p`,{children:`A scenario is a test: this input, these mocks and events, and what comes of them. It expects what happens now.`}),e(`label`,{class:`field`,children:[e(`span`,{children:`What it tests, in a few words`}),e(`input`,{value:r,onInput:e=>a(e.currentTarget.value)})]}),e(n,{error:l})]});let h=[[m.file,m.text],[m.definition,t.texts.definition],...Object.entries(t.texts.files)];return e(y,{title:`Save as a scenario`,wide:!0,onClose:t.onClose,children:[e(`p`,{children:[o.run.message,` Put these files into one folder, then: `,e(`code`,{children:[`lockstep test `,m.file]})]}),e(`p`,{class:`play-downloads`,children:h.map(([t,n],r)=>e(`button`,{type:`button`,class:r===0?`main`:void 0,onClick:()=>Ot(t,n),children:[`Download `,t]},t))}),e(A,{label:`Scenario`,readOnly:!0,value:m.text})]})}function Ot(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(new Blob([t],{type:`application/yaml`})),n.download=e.split(`/`).pop(),n.click(),setTimeout(()=>URL.revokeObjectURL(n.href),6e4)}var J=`lockstep-playground:`;function kt(e){try{let t=JSON.parse(localStorage.getItem(J+e)??`null`);return t&&typeof t.definition==`string`?{...z,...t}:null}catch{return null}}function Y(e,t){try{return t?localStorage.setItem(J+e,JSON.stringify(t)):localStorage.removeItem(J+e),!0}catch{return!1}}var At=[`completed`,`failed`,`cancelled`,`terminated`,`waiting`],jt={stopped:[`‖`,`stopped`],later:[`◔`,`waits for its time`],limit:[`✕`,`cut off`],none:[`○`,`not started`]};function Mt(t){let{run:n}=t,r=jt[n.status];return e(`section`,{class:`play-result`,"aria-label":`Result`,children:[e(`p`,{class:`play-verdict`,children:[At.includes(n.status)?e(m,{status:n.status}):e(`span`,{class:`status `+(n.status===`limit`?`failed`:`paused`),children:[e(`span`,{"aria-hidden":`true`,children:r?.[0]}),` `,r?.[1]??n.status]}),` `,n.message,n.error?.place&&e(g,{children:[` `,e(`button`,{type:`button`,class:`link`,onClick:()=>t.onLine(n.error.place.line,n.error.place.column),children:[`Line `,n.error.place.line]})]})]}),t.stale&&e(`p`,{class:`quiet`,children:`The text has changed since this run.`}),n.notes.length>0&&e(`ul`,{class:`play-notes`,children:n.notes.map(t=>e(`li`,{children:t}))}),n.stopped.map(t=>e(g,{children:[e(`h3`,{children:[`Input of `,t.node]}),e(T,{value:t.data,label:`Input of ${t.node}`})]})),n.output!==void 0&&e(g,{children:[e(`h3`,{children:`Output`}),e(T,{value:n.output,label:`Output`})]}),e(Nt,{run:n,state:t.state,onAll:t.onAll})]})}var X=100;function Nt(t){let[n,r]=_(X),i=t.run.instances.length>1,a=t.run.records.filter(e=>!t.state||e.record.node===t.state||e.record.node?.startsWith(t.state+`/`)),o=Date.parse(t.run.records[0]?.record.time??t.run.clock),s=o;return e(g,{children:[e(`h3`,{children:[`What happened`,t.state&&e(g,{children:[` in `,t.state]}),` `,t.state&&e(`button`,{type:`button`,class:`link`,onClick:t.onAll,children:`Show all`})]}),a.length===0&&e(`p`,{class:`quiet`,children:`Nothing.`}),e(`ol`,{class:`play-timeline`,children:a.slice(0,n).flatMap(({instance:t,record:n})=>{let r=Date.parse(n.time),a=r-s;return s=r,[a>0&&e(`li`,{class:`play-gap`,children:[j(a),` pass`]},`gap${n.seq}`),e(`li`,{class:Ft(n)?`bad`:void 0,children:[e(`span`,{class:`quiet mono`,children:r>o?`+${j(r-o)}`:`+0`}),e(Pt,{record:n,of:i?t:``})]},n.seq)]})}),a.length>n&&e(`button`,{type:`button`,onClick:()=>r(n+X),children:[`Show `,Math.min(X,a.length-n),` more of `,a.length]})]})}function Pt(t){let n=(t.of?t.of+`: `:``)+It(t.record);return t.record.data===void 0?e(`span`,{children:n}):e(`details`,{children:[e(`summary`,{children:n}),e(T,{value:t.record.data,label:`Data of ${n}`})]})}var Ft=e=>[`callFailed`,`timedOut`,`warning`].includes(e.type)||e.status===`failed`,Z=e=>e.replace(`T`,` `).replace(`Z`,``);function It(e){let t=e.node??``,n=e.error?`: ${[e.error.name,e.error.detail].filter(Boolean).join(`, `)}`:``;switch(e.type){case`started`:return`The instance starts`;case`entered`:return`${t} begins`;case`left`:return`${t} is done`;case`called`:return`${t} calls ${e.name}${e.attempt&&e.attempt>1?`, attempt ${e.attempt}`:``}`;case`returned`:return`${e.name} answers`;case`callFailed`:return`${e.name} fails${n}`;case`waiting`:return`${t} waits${e.name?` for ${e.name}`:``}${e.at?` until ${Z(e.at)}`:``}`;case`consumed`:return`${t} takes the event ${e.name??``}`;case`produced`:return`${t} produces the event ${e.name??``}`;case`timedOut`:return`${t} runs out of time`;case`retrying`:return`${t} will be tried again${e.at?` at ${Z(e.at)}`:``}`;case`caught`:return`${t} handles the error${n}`;case`compensating`:return`${t} is undone`;case`taken`:return`${e.name??`Somebody`} chooses ${e.text||t}`;case`finished`:return`The instance is ${e.status}${n}`;case`warning`:return`${t?t+`: `:``}${e.text??``}`}return[e.type,t,e.name,e.text].filter(Boolean).join(` `)+n}function Lt(){O(`Playground`);let{query:t}=f.value,i=t.get(`definition`),a=t.get(`link`),o=Rt(),s=i?`definition:${i}`:a?`link:${a}`:`example:${t.get(`example`)??`greet`}`,c=r(async e=>({base:s,texts:await zt({definition:i,link:a,example:t.get(`example`)},e)}),[s]),l=c.data?.base===s&&!o.busy?c.data.texts:void 0;return e(g,{children:[e(`h1`,{children:`Playground`}),e(`p`,{class:`quiet`,children:`Write a definition and run it here. Time is virtual, functions answer from mocks, and nothing is kept on the server.`}),e(n,{error:o.error}),e(n,{error:l?void 0:c.error,again:c.again}),l?e(Ut,{base:s,original:l,chooser:e(Vt,{base:s})},s):!c.error&&e(`p`,{class:`quiet`,children:`Loading…`})]})}function Rt(){let[e,t]=_({busy:xt(location.hash)});return M(()=>{let e=async()=>{if(!xt(location.hash))return;let{hash:e}=location;t({busy:!0});try{l({link:await wt(e,await St(e)),definition:null,example:null,state:null}),t({busy:!1})}catch(e){t({busy:!1,error:e})}};return e(),addEventListener(`hashchange`,e),()=>removeEventListener(`hashchange`,e)},[]),e}async function zt(e,t){if(e.definition)return Bt(e.definition,t);if(e.link){let t=Tt(e.link);if(!t)throw Error(`What this link carried is not in this browser. Open the whole link again.`);return t}let n=G.find(t=>t.name===(e.example??`greet`));if(!n)throw Error(`There is no example “${e.example}”. Choose another.`);return n.texts}async function Bt(e,t){let n=async n=>(await s(a(`definitions`,e,`source`)+(n?`?file=`+encodeURIComponent(n):``),{signal:t,text:!0})).data,r=await c(a(`definitions`,e,`files`),t),i=r.items.find(e=>e.document)?.path??``,o=i.slice(0,i.lastIndexOf(`/`)+1),l={};for(let e of r.items){if(e.document||e.remote||!e.path.startsWith(o))continue;let t=await n(e.path);t.includes(`\0`)||(l[e.path.slice(o.length)]=t)}return{...z,definition:await n(),files:l}}function Vt(t){let n=r(e=>c(`/api/v1/definitions?limit=100`,e),[]),i=e=>{let[t,n]=[e.slice(0,e.indexOf(`:`)),e.slice(e.indexOf(`:`)+1)];u(`/playground?${t}=${encodeURIComponent(n)}`)};return e(`label`,{children:[`Begin with`,` `,e(`select`,{value:t.base,onChange:e=>i(e.currentTarget.value),children:[t.base.startsWith(`link:`)&&e(`option`,{value:t.base,children:`A link that was opened`}),[...new Set(G.map(e=>e.language))].map(t=>e(`optgroup`,{label:t,children:G.filter(e=>e.language===t).map(t=>e(`option`,{value:`example:${t.name}`,children:t.title}))})),!!n.data?.items.length&&e(`optgroup`,{label:`Deployed here`,children:n.data.items.map(t=>e(`option`,{value:`definition:${t.id}`,children:t.id}))})]})]})}var Q=[[`input`,`Input`,`The workflow input, as YAML or JSON`],[`mocks`,`Mocks`,`How functions answer, such as
charge: {result: {ok: true}}`],[`events`,`Events`,`Events that arrive, such as
- at: PT1M
  event: {type: paid, source: shop}`],[`takes`,`Moves`,`Of a job: what its actors send, such as
- {actor: CLIENT, state: DONE}`]],Ht=`2026-03-01T00:00:00Z`;function Ut(r){let[i,a]=_(()=>kt(r.base)??r.original),[s,c]=_(!1),[p,m]=_($),[h,g]=_(),v=(e,t)=>y(n=>({...n,[e]:t})),y=e=>a(t=>{let n=e(t);return c(!Y(r.base,qt(n,r.original)?null:n)),n}),b=()=>{Y(r.base,null),a(r.original),m($)},x=Zt(i),S=Qt(i),C=f.value.query.get(`time`)!==`stop`,re=Q.find(([e])=>e===f.value.query.get(`pane`))?.[0]??`input`,w=f.value.query.get(`state`)??``,T=t(null),E=$t({"Mod-Enter":()=>S.run(C),"Mod-Shift-Enter":()=>S.step(C)}),D=x.data?.diagnostics??Gt,O=o(()=>Jt(D),[D]),k=S.done?.run,A=x.data?.files?.find(e=>e.path===p&&e.graph),j=A?.graph??x.data?.graph??x.graph??S.done?.graph,ae=!A&&!!x.data&&!x.data.graph,P=p===$?x.data?.dialect:A?.dialect,F=e=>{if(e.file&&Q.some(([t])=>t===e.file))return l({pane:e.file});let t=e.file||$;if(t===p)return T.current?.(e.line??1,e.column);I.current=e,m(t)},I=t(void 0);M(()=>{I.current?.line&&T.current?.(I.current.line,I.current.column),I.current=void 0},[p]);let L=Wt(i,x.data?.id);return e(`div`,{class:`play`,children:[e(`div`,{class:`play-bar`,role:`toolbar`,"aria-label":`Playground`,children:[r.chooser,e(`button`,{type:`button`,class:`main`,"aria-keyshortcuts":`Control+Enter`,title:`Ctrl+Enter`,onClick:()=>S.run(C),...d(`start`),children:`Run`}),e(`button`,{type:`button`,"aria-keyshortcuts":`Control+Shift+Enter`,title:`Ctrl+Shift+Enter`,onClick:()=>S.step(C),...d(`start`),children:`Step`}),e(`button`,{type:`button`,disabled:!k?.next||S.stale,onClick:()=>S.pass(),children:k?.next&&!S.stale?`Let time pass until ${Z(k.next)}`:`Let time pass`}),e(`label`,{children:[e(`input`,{type:`checkbox`,checked:C,onChange:e=>l({time:e.currentTarget.checked?null:`stop`})}),` Skip time`]}),!qt(i,r.original)&&e(`button`,{type:`button`,onClick:b,children:`Start over`}),e(`button`,{type:`button`,onClick:()=>g(`deploy`),...d(`deploy`),children:`Deploy…`}),e(`button`,{type:`button`,onClick:()=>g(`scenario`),...d(`start`),children:`Save as scenario…`}),e(`button`,{type:`button`,onClick:()=>g(`share`),children:`Share…`}),S.busy&&e(`span`,{class:`quiet`,children:`running…`})]}),s&&e(`p`,{class:`quiet`,children:`This browser cannot store drafts: copy your text before you leave.`}),e(`div`,{class:`play-columns`,children:[e(`div`,{children:[e(`h2`,{class:`first`,children:[`Definition `,P&&e(`span`,{class:`play-dialect`,children:ne(P)})]}),e(`div`,{class:`play-definition`,children:e(ee,{files:{[$]:i.definition,...i.files},main:$,label:`Definition`,shown:p,show:m,remarks:D,keys:E,jump:T,change:{write:(e,t)=>e===$?v(`definition`,t):y(n=>({...n,files:{...n.files,[e]:t}})),add:e=>y(t=>({...t,files:{...t.files,[e]:``}})),rename:(e,t)=>y(n=>({...n,files:Object.fromEntries(Object.entries(n.files).map(([n,r])=>[n===e?t:n,r]))})),remove:e=>y(t=>({...t,files:Object.fromEntries(Object.entries(t.files).filter(([t])=>t!==e))}))}})}),x.data&&e(Yt,{list:D,jump:F}),e(Xt,{texts:i,pane:re,of:O,keys:E,write:v})]}),e(`div`,{children:[e(`h2`,{class:`first`,children:`Diagram`}),ae&&j&&e(`p`,{class:`warn`,children:`▲ The definition has errors: this is the diagram from before them.`}),j?e(N,{graph:j,label:`Diagram of the definition`,run:k,instance:ie(k,A?.id),files:x.data?.files??S.done?.files??Kt,selected:w,onSelect:e=>l({state:e===w?null:e})}):e(`p`,{class:`quiet`,children:`It is drawn once the definition has no errors.`}),e(`h2`,{children:`Run`}),e(n,{error:S.error??x.error}),k?e(Mt,{run:k,stale:S.stale,state:w,onAll:()=>l({state:null}),onLine:(e,t)=>F({message:``,line:e,column:t})}):e(`p`,{class:`quiet`,children:[S.done?`It cannot run: fix the errors first.`:`Run it, or step from state to state.`,` Ctrl+Enter runs, Ctrl+Shift+Enter steps.`]})]})]}),h===`share`&&e(Et,{texts:i,onClose:()=>g(void 0)}),h===`scenario`&&e(Dt,{texts:i,onClose:()=>g(void 0)}),h===`deploy`&&e(te,{files:{[L]:i.definition,...i.files},onClose:()=>g(void 0),onRemark:e=>F({...e,file:e.file===L?void 0:e.file}),onDone:e=>u(`/definitions/`+encodeURIComponent(e.definitions.find(e=>e.definition.path===L)?.definition.id??e.definitions[0].definition.id))})]})}var $=`definition`;function Wt(e,t){let n=(t||`definition`).replace(/[^\w.-]+/g,`_`)+(e.definition.trimStart().startsWith(`{`)?`.json`:`.yaml`);return n in e.files?`main-`+n:n}var Gt=[],Kt=[],qt=(e,t)=>JSON.stringify({...z,...e})===JSON.stringify({...z,...t});function Jt(e){let t={};for(let n of e)(t[n.file||`definition`]??=[]).push(n);return t}function Yt(t){let n=t.list.filter(e=>e.severity===`error`).length,r=t.list.length-n;return t.list.length?e(`details`,{class:`play-mistakes`,open:n>0,children:[e(`summary`,{children:[n&&`${n} error${n>1?`s`:``}`,r&&`${r} warning${r>1?`s`:``}`].filter(Boolean).join(`, `)}),e(`ul`,{children:[t.list.slice(0,20).map(n=>e(`li`,{children:[e(`button`,{type:`button`,class:`link`,onClick:()=>t.jump(n),children:n.file?`${n.file}, line ${n.line}`:`Line ${n.line}`}),` `,e(`span`,{class:n.severity===`error`?`bad`:`warn`,children:[n.severity,` `,n.code]}),` `,n.message,n.hint&&!n.hint.includes(`--dialect`)&&e(`span`,{class:`quiet`,children:[` `,n.hint]})]})),t.list.length>20&&e(`li`,{class:`quiet`,children:[`and `,t.list.length-20,` more`]})]})]}):e(`p`,{class:`quiet`,children:`No mistakes.`})}function Xt(n){let r=t(null),i=e=>{let t={ArrowRight:1,ArrowLeft:-1}[e.key];if(!t)return;e.preventDefault();let i=(Q.findIndex(([e])=>e===n.pane)+t+Q.length)%Q.length;l({pane:Q[i][0]}),(r.current?.children[i])?.focus()},[,a,o]=Q.find(([e])=>e===n.pane);return e(g,{children:[e(`div`,{class:`play-tabs`,role:`tablist`,"aria-label":`What the run gets`,ref:r,onKeyDown:i,children:Q.map(([t,r])=>{let i=n.of[t]?.length;return e(`button`,{type:`button`,role:`tab`,id:`tab-`+t,"aria-selected":t===n.pane,"aria-controls":`play-pane`,tabIndex:t===n.pane?0:-1,onClick:()=>l({pane:t}),children:[r,i?` (${i} wrong)`:n.texts[t].trim()?` •`:``]})})}),e(`div`,{class:`play-pane`,role:`tabpanel`,id:`play-pane`,"aria-labelledby":`tab-`+n.pane,children:e(A,{label:a,hint:o,value:n.texts[n.pane],onChange:e=>n.write(n.pane,e),remarks:n.of[n.pane]??Gt,keys:n.keys},n.pane)})]})}function Zt(e){let[n,r]=_({}),i=t(!0),a=S.value===`live`,o=!!n.error,c=C(`start`);return M(()=>{if(!c)return r(e=>({...e,error:void 0}));let t=new AbortController,n=window.setTimeout(()=>{s(`/api/v1/playground`,{body:{...e,run:!1},signal:t.signal}).then(({data:e})=>r(t=>({data:e,graph:e.graph??t.graph})),e=>t.signal.aborted||r(t=>({...t,error:e})))},i.current||o?0:350);return i.current=!1,()=>{window.clearTimeout(n),t.abort()}},[e,a&&o,c]),n}function Qt(e){let[n,r]=_({busy:!1}),a=t(null);M(()=>()=>a.current?.abort(),[]);let o=!!n.done&&n.of!==e,c=t=>{if(!C(`start`))return;a.current?.abort();let n=new AbortController;a.current=n,r(e=>({...e,busy:!0})),s(`/api/v1/playground`,{body:{...e,...t},signal:n.signal}).then(({data:n})=>{r({done:n,of:e,asked:t,busy:!1}),i(n.run?.message??`It cannot run: there are errors.`)},e=>n.signal.aborted||r(t=>({...t,error:e,busy:!1})))},l=o?void 0:n.done?.run,u=e=>e?void 0:l?.clock??Ht;return{...n,stale:o,run:e=>c({until:e?void 0:Ht}),step:e=>c({steps:l?.status===`stopped`?l.steps+1:l?.status===`later`?n.asked?.steps??0:0,until:u(e)}),pass:()=>l?.next&&c({...n.asked,until:l.next})}}function $t(e){let n=t(e);return n.current=e,M(()=>{let e=e=>{!e.defaultPrevented&&e.key===`Enter`&&(e.ctrlKey||e.metaKey)&&(e.preventDefault(),n.current[e.shiftKey?`Mod-Shift-Enter`:`Mod-Enter`]?.())};return addEventListener(`keydown`,e),()=>removeEventListener(`keydown`,e)},[]),e}export{Lt as default};