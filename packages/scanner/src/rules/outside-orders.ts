import type { Rule } from '../match/rule.ts'
import { othersObeyed } from './authority-sentences.ts'
import { strangersObeyed } from './others-trusted.ts'
import { strangerWordings } from './tool-wordings.ts'
import { regex } from '../text/regex.ts'
import { within } from '../match/pattern-tags.ts'

/** Rules about orders that are fetched from other places while the skill is used. */
export const outsideOrders: readonly Rule[] = [
  {
    id: 'remote-instructions',
    category: 'remote-code',
    severity: 'high',
    signal: 'suspicious',
    title: 'Lets the agent obey the response of a server',
    why: 'Instructions fetched at run time can be changed after every review of the skill.',
    remediation: 'Include the instructions in the skill, or pin them by their digest.',
    references: ['https://atlas.mitre.org/techniques/AML.T0051.001', 'https://cwe.mitre.org/data/definitions/494.html'],
    patterns: [
      ...strangerWordings,
      ...othersObeyed,
      ...strangersObeyed,
      within(140, /\uE000\uE000/)`(?<!\b(not|never|n't|that|may|attackers?) )\b(fetch|download|retrieve|load|get|read
        |pull|curl|open|visit|check|poll|query|request|contact)\b[^\uE000]{0,40}?
        (https?://(?!localhost|127\.)[^\s\uE000]{4,100}|the (remote|c2|command|control) (server|url|endpoint)|
        our (server|endpoint))
        … \b((follow|execute|obey|carry out|perform|apply|run) ((all|any|the|its|those|these|whatever|every|each|
        exactly|returned|received|remote|latest|new) ){1,4}(instructions?|commands?|directives?|orders|steps?|
        tasks?) {0-2 words}(it (returns|contains|gives|sends)|(there|returned|received|contained|found|given|inside|
        from (it|the (response|server|page)|there)|in (it|the (response|file|page)))(?=[\s.,]|$)|exactly|without)|
        (execute|obey|follow) (whatever|anything|everything) (it|the (response|server|page)) (says|returns|contains|
        tells)|(treat|use) (the |its )?(response|content|output|result)s? as ((your|new|system|additional) ){0,3}
        (instructions?|prompt|commands?))`,
      regex`(?<!\b(not|never|n't|to|can|may|could|would|that|attackers?|or) )\b
        ((execute|run|follow|obey|perform) (whatever|any|all|every) (of the )?(commands?|instructions?|code|tasks?|
        scripts?) (that )?(the |it |this |our )?{0-1 words}(server|api|endpoint|response|page|url|tool|webhook|
        bot)? ?(returns|sends|responds with|contains|provides|replies with)\b|treat (all |the |any )?{0-3 words}
        (outputs?|responses?|results?|content|data) {0-4 words}as (trusted |authoritative |system |direct |
        new ){0,2}(instructions|commands)\b)`,
      within(60, /\uE000\uE000/)`(?<!\b(not|never|n't|that|may|attackers?) )\b(fetch|download|retrieve|get|pull|read|
        load|curl|check)\s{0-4 words}(instructions?|commands?|tasks?|directives?|prompts?|orders|skill\.md|
        heartbeat\.md)\b[^\uE000]{0,30}?https?://(?!localhost|127\.)[^\s\uE000]{4,100}
        … \b(and|then) {0-1 words}(follow|execute|obey|carry out|run) (them|it|each|all|every|its|those|
        the (instructions|steps|commands))\b`,
      regex`(?<!\b(not|never|n't|to|may|can|attackers?) )\b((get|receive|fetch|take|pull|read|load) (your|additional|
        new|further|more|its|updated|the next) {0-1 words}(orders|instructions|rules|directives|commands|
        tasks) {0-3 words}(from|at) https?://(?!localhost|127\.)|(remote|fetched|downloaded) (file|page|
        document) (may |will |can )?contains? {0-3 words}instructions[;,.] (obey|follow|execute) (them|it|all))`,
      regex`\b(wake up|check|poll|visit|fetch)\b{0-50 in sentence}https?://[^\s\uE000]{4,80} for (new |further |
        your )?(orders|commands|instructions|tasks|directives)\b`,
    ],
  },
]
