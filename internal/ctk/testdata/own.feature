Feature: Our own
  The steps of the kit, on workflows of our own.

  # A comment.
  Scenario: A race
    Given a workflow with definition:
      """yaml
      document: {dsl: 1.0.3, namespace: test, name: race, version: 1.0.0}
      do:
      - begin: {set: {n: "${ .n }"}}
      - race:
          fork:
            compete: true
            branches:
            - slow: {wait: PT1H}
            - quick: {set: {list: "${ [.n, .n] }"}}
      """
    And given the workflow input is:
      """yaml
      n: 4
      """
    When the workflow is executed
    Then the workflow should complete with output:
      """yaml
      list: [4, 4]
      """
    And the workflow should complete
    And the workflow output should have properties 'list'
    And the workflow output should have a 'list' property containing 2 items
    And the workflow output should have a 'list' property with value:
      """json
      [4, 4]
      """
    And begin should run first
    And quick should run last
    And begin should run before race
    And quick should run after slow
    And slow should cancel
    And race should complete
    And begin should complete with output:
      """yaml
      n: 4
      """

  Scenario: A fault
    Given a workflow with definition:
      """yaml
      document: {dsl: 1.0.3, namespace: test, name: fault, version: 1.0.0}
      do:
      - bad: {raise: {error: {type: "https://example.com/bad", status: 418}}}
      """
    When the workflow is executed
    Then the workflow should fault
    And the workflow should fault with error:
      """yaml
      type: https://example.com/bad
      status: 418
      instance: /do/0/bad
      """
    And bad should fault
    And bad should fault with error:
      """yaml
      {type: "https://example.com/bad", status: 418, instance: /do/0/bad}
      """

  Scenario: Calls
    Given a workflow with definition:
      """yaml
      document: {dsl: 1.0.3, namespace: test, name: calls, version: 1.0.0}
      do:
      - one: {call: http, with: {method: get, endpoint: "https://petstore.swagger.io/v2/pet/{id}"}, output: {as: .name}}
      - two:
          input: {from: '{ user: "u v", name: . }'}
          call: http
          with:
            method: get
            endpoint: {uri: "https://httpbin.org/basic-auth/{user}/p", authentication: {basic: {username: "${ .user }", password: p}}}
          output: {as: '{ name: $input.name, user }'}
      """
    And given the workflow input is:
      """yaml
      id: 2
      """
    When the workflow is executed
    Then the workflow should complete with output:
      """yaml
      {name: Waldo, user: u v}
      """
