import{A as e,B as t,D as n,E as r,F as i,H as a,I as o,L as s,M as c,N as l,O as u,P as d,R as f,T as p,U as m,V as h,W as g,_,a as v,b as y,c as b,g as ee,h as te,i as x,j as ne,k as S,l as C,m as re,n as w,o as T,r as E,s as D,t as O,u as ie,x as k,y as A,z as j}from"./index-Ct146mIX.js";function ae(e,t){return t===void 0?e?.records[0]?.instance:e?.records.find(n=>e.instances.some(e=>e.id===n.instance&&e.definition.id===t))?.instance}function M(e){let{run:t,instance:n,graph:r}=e,i=m(()=>t&&n?N(t,n,ie(r)):void 0,[t,n,r]),a=P({run:t,files:e.files,parent:n});return c(C,{svg:r,label:e.label,...i,selected:e.selected,onSelect:e.onSelect,nested:a})}function N(e,t,n){let r=e.records.flatMap(e=>e.instance===t?[e.record]:[]),i=e.instances.find(e=>e.id===t)??{id:t,status:`running`},a=x(v(r,{}),r,i,n),o=(e,t,n,r)=>{let i=a.marks.get(e),o=/×\d+/.exec(i?.note??``)?.[0]??``;a.marks.set(e,{...i,kind:t,says:n,badges:[{text:`${r} ${o}`.trim()}]})};i.job&&i.job.group!==`FAILED`&&o(i.job.state,`active`,`the job is here`,E.active);let s=e.stopped.filter(e=>e.instance===t);for(let e of s)o(e.node,`waiting`,`comes next`,`▷ next`);let c=e=>{let t=s.find(t=>t.node===e);return t?[{name:`Input`,text:w(t.data)}]:a.facts(e)};return{...a,facts:c}}function P(e){let n=j(e);return t(()=>{n.value=e},[e.run,e.files,e.parent]),m(()=>e=>c(F,{...e,...n.value}),[])}function F(e){let{id:t,version:n}=b(e.workflow),r=m(()=>e.run?.records.flatMap(({instance:n,record:r})=>r.type===`spawned`&&n===e.parent&&r.node===e.state&&r.name===t?[`${n}:${r.ticket}`]:[])??[],[e.run,e.parent,e.state,t]),[i,o]=a(),s=r.includes(i??``)?i:r.at(-1),l=e.files.find(e=>e.graph&&e.id===t&&(!n||e.version===n));return l?c(g,{children:[c(`p`,{class:`level-note`,children:[c(`span`,{class:`mono`,children:l.path}),!s&&c(`span`,{class:`quiet`,children:` It has not been started.`}),` `,c(D,{of:r,chosen:s,choose:o})]}),c(M,{run:e.run,files:e.files,graph:l.graph,instance:s,label:`Diagram of ${t}`},s)]}):c(`p`,{class:`level-note quiet`,children:[`No file beside the definition has the workflow `,e.workflow,`, or it has errors.`]})}var I=`# Open an account: reserve a login, then what belongs to it, side by side. What is
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
`,R=`# A person decides. The workflow asks, then waits for an event that carries the
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
`,oe=`- at: P1D
  event: {type: request.decided, source: back-office, id: e1, requestid: q-1, data: {verdict: approved, by: Grace}}
`,se=`askManager: {result: {}}
grant: {result: {}}
`,ce=`# The smallest useful workflow: one state, no calls.
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
`,le=`name: team.board
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
`,ue=`# One instance for each patient who needs watching. The first reading starts it;
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
`,de=`- event: {type: ward.fever, source: ward-3, id: e1, patientid: p-7, data: {bed: 12, celsius: 39.1}}
- at: PT10M
  event: {type: ward.fever, source: ward-3, id: e2, patientid: p-7, data: {celsius: 40.3}}
- at: PT25M
  event: {type: ward.settled, source: ward-3, id: e3, patientid: p-7, data: {celsius: 37.5}}
`,fe=`bringIcePack: {result: {}}
pageDoctor: {result: {doctor: Elizabeth}}
sendNurse: {result: {nurse: Florence}}
`,pe=`# Welcome a new colleague. The account is opened by another workflow, account.yaml;
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
`,me=`proposeLogin: {result: {login: ada2}}
reserveLogin:
- {error: {name: LoginTaken, code: "409"}}
- {result: {account: a-2}}
createMailbox: {result: {address: ada2@example.com}}
orderBadge: {result: {badge: 78}}
sendWelcome: {result: {}}
`,z=`# Asks a manager until there is an answer, at most for a day, then the deputy. A
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
`,he=`askDeputy: {delay: PT2H, result: {approved: false}}
askManager:
- {result: pending}
- {result: {approved: true, by: Grace}}
`,ge=`# Watches a house while nobody should be in it. An open door or a movement is a
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
`,_e=`- event: {type: door.opened, source: house/door, id: e1, data: {house: h-1, door: cellar}}
`,ve=`callOwner: {result: {called: owner}}
callPolice: {result: {called: police}}
judge: {delay: PT2S, result: {danger: 95}}
listen: {delay: PT10S, result: {noise: glass}}
takePicture: {delay: PT2S, result: {picture: p-1}}
`,ye=`# A text is translated by a machine and read by a person, who may send it back as
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
`,be=`- event: {type: text.requested, source: desk, id: e1, document: d-1, data: {text: bank, language: nl}}
- at: PT3H
  event: {type: text.corrected, source: reviewer, id: e2, document: d-1, data: {review: {hint: of a river}, minutes: 5}}
- at: P1D
  event: {type: text.accepted, source: reviewer, id: e3, document: d-1}
`,xe=`explain: {result: {told: true}}
publish: {delay: PT1S, result: {address: /nl/1, bytes: 5}}
translate:
- {delay: PT5S, result: {text: bank, language: nl, translation: bank}}
- {delay: PT5S, result: {text: bank, language: nl, translation: oever}}
`,Se=`# A trip is booked: with the manager's leave, then flight and hotel at the same
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
`,Ce=`askManager:
- {result: pending}
- {result: {approved: true, by: Grace}}
bookFlight: {error: {name: Full}}
bookHotel: {delay: PT10S, result: {hotel: Tejo}}
bookTrain: {delay: PT5S, result: {train: 310}}
enterInCalendar: {result: entered}
mail: {result: {sent: 1}}
remind: {result: {}}
`,we=`# Written as in April 2020, when Serverless Workflow 0.1 was released.
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
`,Te=`- at: P2D
  event: {type: customs.duty.paid, source: bank, parcelid: p-1, data: {receipt: r-9}}
`,Ee=`askDuty: {delay: PT1M, result: {}}
declare:
- {delay: PT1S, error: {name: OfficeClosed}}
- {delay: PT1S, result: {number: 7}}
pickUp: {delay: PT2H, result: {tour: t-4}}
tell: {result: {}}
`,De=`# A newsletter goes out in portions: a sub-workflow is run again until nobody is left, or until somebody says stop.
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
`,Oe=`subscribers: {result: {total: 250}}
send: {result: {ok: true}}
report: {result: {id: 1}}
`,ke=`# A hundred letters at most, then a pause: what the workflow newsletter runs again and again.
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
`,Ae=`document:
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
`,je=`document:
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
`,Me=`create:
- {error: {name: Taken, status: 409}}
- {result: {id: a-2}}
desk: {result: {number: 12}}
badge: {delay: P1D, result: {code: b-7}}
`,Ne=`# Undo what was done, newest first, when the last step fails.
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
`,Pe=`reserve: {result: {reservation: v-1}}
charge: {result: {payment: p-1}}
ship: {error: {name: NotDeliverable}}
refund: {result: {refund: b-1}}
release: {result: {}}
apologise: {result: {}}
`,Fe=`# Wait for thirty days, then remind. The wait costs nothing: no process sleeps.
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
`,Ie=`sendReminder: {result: {sent: true}}
`,Le=`# A call that is tried again after 1, 3, 5 and 7 minutes: four retries in
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
`,Re=`charge:
- {error: {name: ServiceUnavailable, code: "503"}}
- {error: {name: ServiceUnavailable, code: "503"}}
- {result: {receipt: r-99}}
`,ze=`# Invoices are sent two at a time. A policy says once how calls are repeated and what an error is called.
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
`,Be=`post:
- {error: {status: 503}}
- {result: {letter: l-1}}
- {result: {letter: l-2}}
book: {result: {entry: 1}}
`,Ve=`# An order is reserved, paid and sent. Each call that cannot be made at the moment is tried again by itself;
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
`,He=`reserve: {result: {id: v-1}}
charge:
- {error: {name: Overloaded, code: "503"}}
- {result: {id: p-1}}
ship: {error: {name: NotDeliverable}}
refund: {result: {id: b-1}}
release: {result: {}}
apologise: {result: {}}
`,Ue=`# A document goes to a reviewer, back to its author and again to the reviewer, as often as it takes; who does not
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
`,We=`- {at: PT5H, event: {type: document.reviewed, source: desk, id: e2, documentid: d-1, data: {verdict: changes, remarks: too long}}}
- {at: P2D, event: {type: document.reviewed, source: desk, id: e3, documentid: d-1, data: {verdict: approved}}}
`,Ge=`sendForReview: {result: {queued: true}}
askForChanges: {delay: P1D, result: {lines: 12}}
remind: {result: {sent: true}}
giveUp: {result: {mails: 2}}
`,Ke=`# The first reading of a sensor starts an instance, and all further ones of that sensor go to it. After a week
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
`,qe=`- {event: {type: sensor.measured, source: boiler-room, id: e1, sensorid: s-1, data: {celsius: 60}}}
- {at: P1D, event: {type: sensor.measured, source: boiler-room, id: e2, sensorid: s-1, data: {celsius: 75}}}
`,Je=`alarm: {result: {called: Grace}}
report: {result: {}}
`,Ye=`{
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
`,Xe=`customer: {result: {tier: gold, mail: ada@example.com, phone: "1"}}
open: {result: {number: 7}}
`,Ze=`# The smallest useful workflow: one task, no calls.
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
`,Qe=`document:
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
`,$e=`due: {result: [{number: 1, customer: ada}, {number: 2, customer: bob}]}
letter:
- {error: {name: Unavailable, status: 503}}
- {result: {}}
`,et=`document:
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
`,tt=`- at: P1D
  event: {type: people.leave.decided, source: desk, id: e1, data: {request: r-1, approved: true, by: grace}}
`,nt=`book: {result: {}}
`,rt=`document:
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
`,it=`reserve: {result: {id: r-1}}
charge:
- {error: {name: Unavailable, status: "503"}}
- {error: {name: Refused, status: "402"}}
release: {result: {}}
`,at=`document:
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
`,ot=`- event: {type: party.planned, source: me, id: e1, data: {party: p1, guests: [Ada, Bob]}}
- at: PT1H
  event: {type: party.answer, source: ada, id: e2, data: {party: p1, guest: Ada, coming: true}}
- at: PT3H
  event: {type: party.answer, source: bob, id: e3, data: {party: p1, guest: Bob, coming: false}}
- at: P1D
  event: {type: party.closed, source: me, id: e4, data: {party: p1}}
`,st=`document:
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
`,ct=`letter: {result: {}}
paid:
- {result: {state: open}}
- {result: {state: paid}}
`,lt=`document:
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
`,ut=`- at: PT1M
  event: {type: room.temperature, source: attic-1, id: e1, data: {room: attic, celsius: 21}}
- at: PT2M
  event: {type: room.temperature, source: attic-1, id: e2, data: {room: attic, celsius: 33}}
- at: PT3M
  event: {type: room.temperature, source: attic-1, id: e3, data: {room: attic, celsius: 27}}
`,dt=`document:
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
`,ft=`north: {delay: PT8S, result: {price: 40}}
south: {delay: PT5S, result: {price: 42}}
order: {result: {number: 17}}
`,pt=`document:
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
`,mt=`debit: {result: {}}
credit: {result: {}}
`,ht=`id: parcel
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
`,B={definition:``,input:``,mocks:``,events:``,takes:``,files:{}},V=e=>(t,n,r)=>({name:t,title:n,language:e,texts:{...B,...r}}),H=V(`Open Workflow 1.0`),U=V(`Serverless Workflow 0.6 to 0.9`),W=V(`Serverless Workflow 0.1 and 0.2`),G=V(`Serverless Workflow 0.5`),gt=V(`Jobs`),K=[H(`greet`,`Greet somebody`,{definition:Ze,input:`name: Ada
`}),H(`pay`,`Pay an order, or release what was reserved`,{definition:rt,input:`item: lamp
count: 2
card: c-1
amount: 40
`,mocks:it}),H(`suppliers`,`Take the first answer of two`,{definition:dt,input:`item: lamp
`,mocks:ft}),H(`leave`,`Wait for a decision, two days at most`,{definition:et,input:`request: r-1
employee: ada
days: 5
`,mocks:nt,events:tt}),H(`invoices`,`Send letters every night`,{definition:Qe,mocks:$e}),H(`sensor`,`Judge readings as they come`,{definition:lt,input:`room: attic
`,events:ut}),H(`party`,`Collect answers until an event`,{definition:at,events:ot}),H(`transfer`,`Extend every call`,{definition:pt,input:`from: a
to: b
amount: 40
`,mocks:mt}),H(`reminders`,`Call functions of the definition`,{definition:st,input:`number: 7
customer: ada
`,mocks:ct}),H(`onboarding10`,`Run another workflow`,{definition:je,input:`name: Ada
`,mocks:Me,files:{"account.yaml":Ae}}),H(`empty`,`Begin with nothing`,{definition:`document:
  dsl: 1.0.3
  namespace: default
  name: mine
  version: 1.0.0
do:
- first:
    set: {hello: world}
`}),U(`order08`,`Take an order, or take it back (0.8)`,{definition:Ve,input:`item: lamp
customer: Ada
card: c-1
amount: 30
`,mocks:He}),U(`sensor08`,`Watch a sensor for a week (0.8)`,{definition:Ke,mocks:Je,events:qe}),U(`ticket08`,`Open a ticket, as written for SonataFlow (0.8)`,{definition:Ye,input:`customer: c-1
text: It does not blink
`,mocks:Xe}),U(`review07`,`Review a document, two weeks at most (0.7)`,{definition:Ue,input:`document: d-1
round: 1
`,mocks:Ge,events:We}),U(`invoices09`,`Send invoices in batches (0.9)`,{definition:ze,input:`invoices: [{number: 1, to: ada}, {number: 2, to: bo}]
`,mocks:Be}),U(`newsletter06`,`Run a sub-workflow until nobody is left (0.6)`,{definition:De,input:`list: weekly
`,mocks:Oe,files:{"portion.yaml":ke}}),G(`hello`,`Greet somebody`,{definition:ce,input:`name: Ada
`}),G(`order`,`Take an order, or take it back`,{definition:Ne,input:`item: lamp
customer: Ada
amount: 30
`,mocks:Pe}),G(`retry`,`Try again with patience`,{definition:Le,input:`card: c-1
amount: 30
`,mocks:Re}),G(`reminder`,`Wait thirty days`,{definition:Fe,input:`email: ada@example.com
invoice: {number: 7, amount: 30}
`,mocks:Ie}),G(`approval`,`Have a person decide`,{definition:R,input:`request: q-1
`,mocks:se,events:oe}),G(`monitor`,`Begin with an event`,{definition:ue,mocks:fe,events:de}),G(`account`,`Do things side by side`,{definition:I,input:`login: ada
name: Ada
`,mocks:L}),G(`onboarding`,`Run another workflow, and handle its errors`,{definition:pe,input:`name: Ada
login: ada
`,mocks:me,files:{"account.yaml":I}}),W(`approve01`,`Ask until there is an answer (0.1)`,{definition:z,input:`who: Ada
`,mocks:he}),W(`translation01`,`Have a text translated and read (0.1, with hyphens)`,{definition:ye,mocks:xe,events:be}),W(`home01`,`Watch a house (0.1, its first draft)`,{definition:ge,mocks:ve,events:_e}),W(`travel01`,`Book a journey, with a sub-workflow (0.1)`,{definition:Se,input:`who: Ada
to: Lisbon
nights: 3
`,mocks:Ce,files:{"approve.yaml":z}}),W(`customs02`,`Declare a parcel, and wait for the duty (0.1 as released)`,{definition:we,input:`parcelid: p-1
value: 900
gift: false
`,mocks:Ee,events:Te}),W(`parcel02`,`Tell where a parcel is (0.2)`,{definition:ht,input:`parcel: p-1
`,mocks:`locate: {result: {distance: 3}}
`}),gt(`kanban`,`Move a job over a board`,{definition:le,input:`title: A button that does nothing
`,takes:`- {actor: CLIENT, state: DOING}
- {at: PT2H, actor: CLIENT, state: DOING, progress: 60, message: it blinks}
- {at: PT6H, actor: CLIENT, state: REVIEW, progress: 100}
- {at: P1D, actor: WFX, state: SHIPPED, message: thank you}
`})],_t=`play=`,vt=4<<20;async function yt(e){let t=Object.fromEntries(Object.entries(e).filter(([,e])=>typeof e==`string`?e:Object.keys(e).length)),n=new Blob([JSON.stringify(t)]).stream().pipeThrough(new CompressionStream(`deflate-raw`)),r=new Uint8Array(await new Response(n).arrayBuffer()),i=``;for(let e of r)i+=String.fromCharCode(e);let a=_t+btoa(i).replace(/\+/g,`-`).replace(/\//g,`_`).replace(/=+$/,``);return a.length>32e3?null:a}var bt=e=>e.startsWith(`#play=`);async function xt(e){let t=Error(`This link is not whole: it was cut, or changed on its way. Ask for it again.`),n=``;try{let r=atob(e.slice(6).replace(/-/g,`+`).replace(/_/g,`/`)),i=Uint8Array.from(r,e=>e.charCodeAt(0)),a=new Blob([i]).stream().pipeThrough(new DecompressionStream(`deflate-raw`)).getReader(),o=new TextDecoder(`utf-8`,{fatal:!0});for(let e=0;;){let{done:r,value:i}=await a.read();if(r)break;if(e+=i.length,e>vt)throw t;n+=o.decode(i,{stream:!0})}n+=o.decode();let s=JSON.parse(n),c=e=>e===void 0||typeof e==`string`,{definition:l,input:u,mocks:d,events:f,takes:p,files:m}=s;if(typeof l!=`string`||![u,d,f,p].every(c)||m!==void 0&&(typeof m!=`object`||!m||!Object.values(m).every(e=>typeof e==`string`)))throw t;return{...B,definition:l,input:u??``,mocks:d??``,events:f??``,takes:p??``,files:m??{}}}catch{throw t}}var q=`lockstep-playground-link:`,St=10,Ct=new Map;async function wt(e,t){let n=(crypto.subtle?[...new Uint8Array(await crypto.subtle.digest(`SHA-256`,new TextEncoder().encode(e)))]:[...e].reduce((e,t)=>[e[0]*31+t.charCodeAt(0)>>>0],[7])).slice(0,6).map(e=>e.toString(16).padStart(2,`0`)).join(``);Ct.set(n,t);try{let e=Object.keys(localStorage).filter(e=>e.startsWith(q));for(let t of e.slice(0,Math.max(0,e.length-St+1)))localStorage.removeItem(t);localStorage.setItem(q+n,JSON.stringify(t))}catch{}return n}function Tt(e){try{return Ct.get(e)??JSON.parse(localStorage.getItem(q+e)??`null`)}catch{return null}}function Et(e){let[n,r]=a(),[i,o]=a(``),s=h(null);return t(()=>{yt(e.texts).then(e=>r(e&&`${location.origin}/playground#${e}`),()=>r(null))},[]),c(A,{title:`Share by link`,leave:`Close`,action:`Copy the link`,onClose:e.onClose,onSubmit:n?async()=>{s.current?.select();try{await navigator.clipboard.writeText(n),o(`The link is copied.`),u(`The link is copied`)}catch{o(`The link is selected: copy it with Ctrl+C.`)}}:void 0,children:[n===void 0&&c(`p`,{class:`quiet`,children:`Packing…`}),n===null&&c(`div`,{class:`problem`,role:`alert`,children:c(`p`,{children:[`This is too much for a link: packed it has more than `,p(32e3),` characters, which mail and chat programs cut. Save a scenario and send the files, or deploy it.`]})}),n&&c(g,{children:[c(`p`,{children:`Whoever opens it gets the definition, its files, the input, the mocks and the events as they are now. The link itself has all of it: no server keeps it.`}),c(`label`,{class:`field`,children:[c(`span`,{children:`Link`}),c(`input`,{ref:s,readOnly:!0,value:n,onFocus:e=>e.currentTarget.select()})]}),c(`p`,{class:`quiet`,role:`status`,children:i||`${p(n.length)} characters`})]})]})}function Dt(e){let[t,n]=a(`as tried out in the playground`),[r,i]=a(),[o,l]=a(),[d,f]=a(!1),p=async()=>{f(!0),l(void 0);try{let{data:n}=await s(`/api/v1/playground`,{body:{...e.texts,scenario:t.trim()||`it runs`}});if(!n.scenario)throw Error(`The definition has errors: correct them first.`);i(n),u(`The scenario is ready`)}catch(e){l(e)}f(!1)},{scenario:m}=r??{};if(!m)return c(A,{title:`Save as a scenario`,action:`Run and write it`,busy:d,onClose:e.onClose,onSubmit:p,children:[c(`p`,{children:`A scenario is a test: this input, these mocks and events, and what comes of them. It expects what happens now.`}),c(`label`,{class:`field`,children:[c(`span`,{children:`What it tests, in a few words`}),c(`input`,{value:t,onInput:e=>n(e.currentTarget.value)})]}),c(k,{error:o})]});let h=[[m.file,m.text],[m.definition,e.texts.definition],...Object.entries(e.texts.files)];return c(A,{title:`Save as a scenario`,wide:!0,onClose:e.onClose,children:[c(`p`,{children:[r.run.message,` Put these files into one folder, then: `,c(`code`,{children:[`lockstep test `,m.file]})]}),c(`p`,{class:`play-downloads`,children:h.map(([e,t],n)=>c(`button`,{type:`button`,class:n===0?`main`:void 0,onClick:()=>Ot(e,t),children:[`Download `,e]},e))}),c(_,{label:`Scenario`,readOnly:!0,value:m.text})]})}function Ot(e,t){let n=document.createElement(`a`);n.href=URL.createObjectURL(new Blob([t],{type:`application/yaml`})),n.download=e.split(`/`).pop(),n.click(),setTimeout(()=>URL.revokeObjectURL(n.href),6e4)}var J=`lockstep-playground:`;function kt(e){try{let t=JSON.parse(localStorage.getItem(J+e)??`null`);return t&&typeof t.definition==`string`?{...B,...t}:null}catch{return null}}function At(e,t){try{return t?localStorage.setItem(J+e,JSON.stringify(t)):localStorage.removeItem(J+e),!0}catch{return!1}}var jt=[`completed`,`failed`,`cancelled`,`terminated`,`waiting`],Mt={stopped:[`‖`,`stopped`],later:[`◔`,`waits for its time`],limit:[`✕`,`cut off`],none:[`○`,`not started`]};function Nt(e){let{run:t}=e,n=Mt[t.status];return c(`section`,{class:`play-result`,"aria-label":`Result`,children:[c(`p`,{class:`play-verdict`,children:[jt.includes(t.status)?c(y,{status:t.status}):c(`span`,{class:`status `+(t.status===`limit`?`failed`:`paused`),children:[c(`span`,{"aria-hidden":`true`,children:n?.[0]}),` `,n?.[1]??t.status]}),` `,t.message,t.error?.place&&c(g,{children:[` `,c(`button`,{type:`button`,class:`link`,onClick:()=>e.onLine(t.error.place.line,t.error.place.column),children:[`Line `,t.error.place.line]})]})]}),e.stale&&c(`p`,{class:`quiet`,children:`The text has changed since this run.`}),t.notes.length>0&&c(`ul`,{class:`play-notes`,children:t.notes.map(e=>c(`li`,{children:e}))}),t.stopped.map(e=>c(g,{children:[c(`h3`,{children:[`Input of `,e.node]}),c(T,{value:e.data,label:`Input of ${e.node}`})]})),t.output!==void 0&&c(g,{children:[c(`h3`,{children:`Output`}),c(T,{value:t.output,label:`Output`})]}),c(Pt,{run:t,state:e.state,onAll:e.onAll})]})}var Y=100;function Pt(e){let[t,n]=a(Y),i=e.run.instances.length>1,o=e.run.records.filter(t=>!e.state||t.record.node===e.state||t.record.node?.startsWith(e.state+`/`)),s=Date.parse(e.run.records[0]?.record.time??e.run.clock),l=s;return c(g,{children:[c(`h3`,{children:[`What happened`,e.state&&c(g,{children:[` in `,e.state]}),` `,e.state&&c(`button`,{type:`button`,class:`link`,onClick:e.onAll,children:`Show all`})]}),o.length===0&&c(`p`,{class:`quiet`,children:`Nothing.`}),c(`ol`,{class:`play-timeline`,children:o.slice(0,t).flatMap(({instance:e,record:t})=>{let n=Date.parse(t.time),a=n-l;return l=n,[a>0&&c(`li`,{class:`play-gap`,children:[r(a),` pass`]},`gap${t.seq}`),c(`li`,{class:It(t)?`bad`:void 0,children:[c(`span`,{class:`quiet mono`,children:n>s?`+${r(n-s)}`:`+0`}),c(Ft,{record:t,of:i?e:``})]},t.seq)]})}),o.length>t&&c(`button`,{type:`button`,onClick:()=>n(t+Y),children:[`Show `,Math.min(Y,o.length-t),` more of `,o.length]})]})}function Ft(e){let t=(e.of?e.of+`: `:``)+Lt(e.record);return e.record.data===void 0?c(`span`,{children:t}):c(`details`,{children:[c(`summary`,{children:t}),c(T,{value:e.record.data,label:`Data of ${t}`})]})}var It=e=>[`callFailed`,`timedOut`,`warning`].includes(e.type)||e.status===`failed`;function Lt(e){let t=e.node??``,r=e.error?`: ${[e.error.name,e.error.detail].filter(Boolean).join(`, `)}`:``;switch(e.type){case`started`:return`The instance starts`;case`entered`:return`${t} begins`;case`left`:return`${t} is done`;case`called`:return`${t} calls ${e.name}${e.attempt&&e.attempt>1?`, attempt ${e.attempt}`:``}`;case`returned`:return`${e.name} answers`;case`callFailed`:return`${e.name} fails${r}`;case`waiting`:return`${t} waits${e.name?` for ${e.name}`:``}${e.at?` until ${n(e.at)}`:``}`;case`consumed`:return`${t} takes the event ${e.name??``}`;case`produced`:return`${t} produces the event ${e.name??``}`;case`timedOut`:return`${t} runs out of time`;case`retrying`:return`${t} will be tried again${e.at?` at ${n(e.at)}`:``}`;case`caught`:return`${t} handles the error${r}`;case`compensating`:return`${t} is undone`;case`taken`:return`${e.name??`Somebody`} chooses ${e.text||t}`;case`finished`:return`The instance is ${e.status}${r}`;case`warning`:return`${t?t+`: `:``}${e.text??``}`}return[e.type,t,e.name,e.text].filter(Boolean).join(` `)+r}function Rt(){O(`Playground`);let{query:e}=i.value,t=e.get(`definition`),n=e.get(`link`),r=zt(),a=t?`definition:${t}`:n?`link:${n}`:`example:${e.get(`example`)??`greet`}`,o=S(async r=>({base:a,texts:await Bt({definition:t,link:n,example:e.get(`example`)},r)}),[a]),s=o.data?.base===a&&!r.busy?o.data.texts:void 0;return c(g,{children:[c(`h1`,{children:`Playground`}),c(`p`,{class:`quiet`,children:`Write a definition and run it here. Time is virtual, functions answer from mocks, and nothing is kept on the server.`}),c(k,{error:r.error}),c(k,{error:s?void 0:o.error,again:o.again}),s?c(Ut,{base:a,original:s,chooser:c(Ht,{base:a})},a):!o.error&&c(`p`,{class:`quiet`,children:`Loading…`})]})}function zt(){let[e,n]=a({busy:bt(location.hash)});return t(()=>{let e=async()=>{if(!bt(location.hash))return;let{hash:e}=location;n({busy:!0});try{l({link:await wt(e,await xt(e)),definition:null,example:null,state:null}),n({busy:!1})}catch(e){n({busy:!1,error:e})}};return e(),addEventListener(`hashchange`,e),()=>removeEventListener(`hashchange`,e)},[]),e}async function Bt(e,t){if(e.definition)return Vt(e.definition,t);if(e.link){let t=Tt(e.link);if(!t)throw Error(`What this link carried is not in this browser. Open the whole link again.`);return t}let n=K.find(t=>t.name===(e.example??`greet`));if(!n)throw Error(`There is no example “${e.example}”. Choose another.`);return n.texts}async function Vt(e,t){let n=async n=>(await s(o(`definitions`,e,`source`)+(n?`?file=`+encodeURIComponent(n):``),{signal:t,text:!0})).data,r=await f(o(`definitions`,e,`files`),t),i=r.items.find(e=>e.document)?.path??``,a=i.slice(0,i.lastIndexOf(`/`)+1),c={};for(let e of r.items){if(e.document||e.remote||!e.path.startsWith(a))continue;let t=await n(e.path);t.includes(`\0`)||(c[e.path.slice(a.length)]=t)}return{...B,definition:await n(),files:c}}function Ht(e){let t=S(e=>f(`/api/v1/definitions?limit=100`,e),[]),n=e=>{let[t,n]=[e.slice(0,e.indexOf(`:`)),e.slice(e.indexOf(`:`)+1)];d(`/playground?${t}=${encodeURIComponent(n)}`)};return c(`label`,{children:[`Begin with`,` `,c(`select`,{value:e.base,onChange:e=>n(e.currentTarget.value),children:[e.base.startsWith(`link:`)&&c(`option`,{value:e.base,children:`A link that was opened`}),[...new Set(K.map(e=>e.language))].map(e=>c(`optgroup`,{label:e,children:K.filter(t=>t.language===e).map(e=>c(`option`,{value:`example:${e.name}`,children:e.title}))})),!!t.data?.items.length&&c(`optgroup`,{label:`Deployed here`,children:t.data.items.map(e=>c(`option`,{value:`definition:${e.id}`,children:e.id}))})]})]})}var X=[[`input`,`Input`,`The workflow input, as YAML or JSON`],[`mocks`,`Mocks`,`How functions answer, such as
charge: {result: {ok: true}}`],[`events`,`Events`,`Events that arrive, such as
- at: PT1M
  event: {type: paid, source: shop}`],[`takes`,`Moves`,`Of a job: what its actors send, such as
- {actor: CLIENT, state: DONE}`]],Z=`2026-03-01T00:00:00Z`;function Ut(e){let[r,o]=a(()=>kt(e.base)??e.original),[s,u]=a(!1),[f,p]=a(Q),[g,_]=a(),v=(e,t)=>y(n=>({...n,[e]:t})),y=t=>o(n=>{let r=t(n);return u(!At(e.base,$(r,e.original)?null:r)),r}),b=()=>{At(e.base,null),o(e.original),p(Q)},x=Xt(r),S=Zt(r),C=i.value.query.get(`time`)!==`stop`,w=X.find(([e])=>e===i.value.query.get(`pane`))?.[0]??`input`,T=i.value.query.get(`state`)??``,E=h(null),D=Qt({"Mod-Enter":()=>S.run(C),"Mod-Shift-Enter":()=>S.step(C)}),O=x.data?.diagnostics??Gt,ie=m(()=>qt(O),[O]),A=S.done?.run,j=x.data?.files?.find(e=>e.path===f&&e.graph),N=j?.graph??x.data?.graph??x.graph??S.done?.graph,P=!j&&!!x.data&&!x.data.graph,F=f===Q?x.data?.dialect:j?.dialect,I=e=>{if(e.file&&X.some(([t])=>t===e.file))return l({pane:e.file});let t=e.file||Q;if(t===f)return E.current?.(e.line??1,e.column);L.current=e,p(t)},L=h(void 0);t(()=>{L.current?.line&&E.current?.(L.current.line,L.current.column),L.current=void 0},[f]);let R=Wt(r,x.data?.id);return c(`div`,{class:`play`,children:[c(`div`,{class:`play-bar`,role:`toolbar`,"aria-label":`Playground`,children:[e.chooser,c(`button`,{type:`button`,class:`main`,"aria-keyshortcuts":`Control+Enter`,title:`Ctrl+Enter`,onClick:()=>S.run(C),children:`Run`}),c(`button`,{type:`button`,"aria-keyshortcuts":`Control+Shift+Enter`,title:`Ctrl+Shift+Enter`,onClick:()=>S.step(C),children:`Step`}),c(`button`,{type:`button`,disabled:!A?.next||S.stale,onClick:()=>S.pass(),children:A?.next&&!S.stale?`Let time pass until ${n(A.next)}`:`Let time pass`}),c(`label`,{children:[c(`input`,{type:`checkbox`,checked:C,onChange:e=>l({time:e.currentTarget.checked?null:`stop`})}),` Skip time`]}),!$(r,e.original)&&c(`button`,{type:`button`,onClick:b,children:`Start over`}),c(`button`,{type:`button`,onClick:()=>_(`deploy`),...ne(`deploy`),children:`Deploy…`}),c(`button`,{type:`button`,onClick:()=>_(`scenario`),children:`Save as scenario…`}),c(`button`,{type:`button`,onClick:()=>_(`share`),children:`Share…`}),S.busy&&c(`span`,{class:`quiet`,children:`running…`})]}),s&&c(`p`,{class:`quiet`,children:`This browser cannot store drafts: copy your text before you leave.`}),c(`div`,{class:`play-columns`,children:[c(`div`,{children:[c(`h2`,{class:`first`,children:[`Definition `,F&&c(`span`,{class:`play-dialect`,children:re(F)})]}),c(`div`,{class:`play-definition`,children:c(ee,{files:{[Q]:r.definition,...r.files},main:Q,label:`Definition`,shown:f,show:p,remarks:O,keys:D,jump:E,change:{write:(e,t)=>e===Q?v(`definition`,t):y(n=>({...n,files:{...n.files,[e]:t}})),add:e=>y(t=>({...t,files:{...t.files,[e]:``}})),rename:(e,t)=>y(n=>({...n,files:Object.fromEntries(Object.entries(n.files).map(([n,r])=>[n===e?t:n,r]))})),remove:e=>y(t=>({...t,files:Object.fromEntries(Object.entries(t.files).filter(([t])=>t!==e))}))}})}),x.data&&c(Jt,{list:O,jump:I}),c(Yt,{texts:r,pane:w,of:ie,keys:D,write:v})]}),c(`div`,{children:[c(`h2`,{class:`first`,children:`Diagram`}),P&&N&&c(`p`,{class:`warn`,children:`▲ The definition has errors: this is the diagram from before them.`}),N?c(M,{graph:N,label:`Diagram of the definition`,run:A,instance:ae(A,j?.id),files:x.data?.files??S.done?.files??Kt,selected:T,onSelect:e=>l({state:e===T?null:e})}):c(`p`,{class:`quiet`,children:`It is drawn once the definition has no errors.`}),c(`h2`,{children:`Run`}),c(k,{error:S.error??x.error}),A?c(Nt,{run:A,stale:S.stale,state:T,onAll:()=>l({state:null}),onLine:(e,t)=>I({message:``,line:e,column:t})}):c(`p`,{class:`quiet`,children:[S.done?`It cannot run: fix the errors first.`:`Run it, or step from state to state.`,` Ctrl+Enter runs, Ctrl+Shift+Enter steps.`]})]})]}),g===`share`&&c(Et,{texts:r,onClose:()=>_(void 0)}),g===`scenario`&&c(Dt,{texts:r,onClose:()=>_(void 0)}),g===`deploy`&&c(te,{files:{[R]:r.definition,...r.files},onClose:()=>_(void 0),onRemark:e=>I({...e,file:e.file===R?void 0:e.file}),onDone:e=>d(`/definitions/`+encodeURIComponent(e.definitions.find(e=>e.definition.path===R)?.definition.id??e.definitions[0].definition.id))})]})}var Q=`definition`;function Wt(e,t){let n=(t||`definition`).replace(/[^\w.-]+/g,`_`)+(e.definition.trimStart().startsWith(`{`)?`.json`:`.yaml`);return n in e.files?`main-`+n:n}var Gt=[],Kt=[],$=(e,t)=>JSON.stringify({...B,...e})===JSON.stringify({...B,...t});function qt(e){let t={};for(let n of e)(t[n.file||`definition`]??=[]).push(n);return t}function Jt(e){let t=e.list.filter(e=>e.severity===`error`).length,n=e.list.length-t;return e.list.length?c(`details`,{class:`play-mistakes`,open:t>0,children:[c(`summary`,{children:[t&&`${t} error${t>1?`s`:``}`,n&&`${n} warning${n>1?`s`:``}`].filter(Boolean).join(`, `)}),c(`ul`,{children:[e.list.slice(0,20).map(t=>c(`li`,{children:[c(`button`,{type:`button`,class:`link`,onClick:()=>e.jump(t),children:t.file?`${t.file}, line ${t.line}`:`Line ${t.line}`}),` `,c(`span`,{class:t.severity===`error`?`bad`:`warn`,children:[t.severity,` `,t.code]}),` `,t.message,t.hint&&!t.hint.includes(`--dialect`)&&c(`span`,{class:`quiet`,children:[` `,t.hint]})]})),e.list.length>20&&c(`li`,{class:`quiet`,children:[`and `,e.list.length-20,` more`]})]})]}):c(`p`,{class:`quiet`,children:`No mistakes.`})}function Yt(e){let t=h(null),n=n=>{let r={ArrowRight:1,ArrowLeft:-1}[n.key];if(!r)return;n.preventDefault();let i=(X.findIndex(([t])=>t===e.pane)+r+X.length)%X.length;l({pane:X[i][0]}),(t.current?.children[i])?.focus()},[,r,i]=X.find(([t])=>t===e.pane);return c(g,{children:[c(`div`,{class:`play-tabs`,role:`tablist`,"aria-label":`What the run gets`,ref:t,onKeyDown:n,children:X.map(([t,n])=>{let r=e.of[t]?.length;return c(`button`,{type:`button`,role:`tab`,id:`tab-`+t,"aria-selected":t===e.pane,"aria-controls":`play-pane`,tabIndex:t===e.pane?0:-1,onClick:()=>l({pane:t}),children:[n,r?` (${r} wrong)`:e.texts[t].trim()?` •`:``]})})}),c(`div`,{class:`play-pane`,role:`tabpanel`,id:`play-pane`,"aria-labelledby":`tab-`+e.pane,children:c(_,{label:r,hint:i,value:e.texts[e.pane],onChange:t=>e.write(e.pane,t),remarks:e.of[e.pane]??Gt,keys:e.keys},e.pane)})]})}function Xt(n){let[r,i]=a({}),o=h(!0),c=e.value===`live`,l=!!r.error;return t(()=>{let e=new AbortController,t=window.setTimeout(()=>{s(`/api/v1/playground`,{body:{...n,run:!1},signal:e.signal}).then(({data:e})=>i(t=>({data:e,graph:e.graph??t.graph})),t=>e.signal.aborted||i(e=>({...e,error:t})))},o.current||l?0:350);return o.current=!1,()=>{window.clearTimeout(t),e.abort()}},[n,c&&l]),r}function Zt(e){let[n,r]=a({busy:!1}),i=h(null);t(()=>()=>i.current?.abort(),[]);let o=!!n.done&&n.of!==e,c=t=>{i.current?.abort();let n=new AbortController;i.current=n,r(e=>({...e,busy:!0})),s(`/api/v1/playground`,{body:{...e,...t},signal:n.signal}).then(({data:n})=>{r({done:n,of:e,asked:t,busy:!1}),u(n.run?.message??`It cannot run: there are errors.`)},e=>n.signal.aborted||r(t=>({...t,error:e,busy:!1})))},l=o?void 0:n.done?.run,d=e=>e?void 0:l?.clock??Z;return{...n,stale:o,run:e=>c({until:e?void 0:Z}),step:e=>c({steps:l?.status===`stopped`?l.steps+1:l?.status===`later`?n.asked?.steps??0:0,until:d(e)}),pass:()=>l?.next&&c({...n.asked,until:l.next})}}function Qt(e){let n=h(e);return n.current=e,t(()=>{let e=e=>{!e.defaultPrevented&&e.key===`Enter`&&(e.ctrlKey||e.metaKey)&&(e.preventDefault(),n.current[e.shiftKey?`Mod-Shift-Enter`:`Mod-Enter`]?.())};return addEventListener(`keydown`,e),()=>removeEventListener(`keydown`,e)},[]),e}export{Rt as default};