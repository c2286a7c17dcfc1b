import type { Rule } from '../rule.ts'
import { strangerWordings } from './tool-wordings.ts'

/** Orders that come from elsewhere while the skill is used. */
export const outsideOrders: readonly Rule[] = [
  {
    id: 'remote-instructions',
    category: 'remote-code',
    severity: 'high',
    signal: 'suspicious',
    title: 'Has the agent obey what an address answers',
    why: 'Instructions fetched at run time can be changed after every review of the skill.',
    remediation: 'Bring the instructions with the skill, or pin them by their digest.',
    references: ['https://atlas.mitre.org/techniques/AML.T0051.001', 'https://cwe.mitre.org/data/definitions/494.html'],
    patterns: [
      ...strangerWordings,
      {
        anchors: ['http://', 'https://', 'the url', 'remote server', 'our server', 'the endpoint'],
        match: {
          first:
            /(?<!\b(?:not|never|n't|that|may|attackers?) )\b(?:fetch|download|retrieve|load|get|read|pull|curl|open|visit|check|poll|query|request|contact)\b[^\uE000]{0,40}?(?:https?:\/\/(?!localhost|127\.)[^\s\uE000]{4,100}|the (?:remote|c2|command|control) (?:server|url|endpoint)|our (?:server|endpoint))/,
          last: /\b(?:(?:follow|execute|obey|carry out|perform|apply|run) (?:(?:all|any|the|its|those|these|whatever|every|each|exactly|returned|received|remote|latest|new) ){1,4}(?:instructions?|commands?|directives?|orders|steps?|tasks?) (?:\w{1,10} ){0,2}?(?:it (?:returns|contains|gives|sends)|(?:there|returned|received|contained|found|given|inside|from (?:it|the (?:response|server|page)|there)|in (?:it|the (?:response|file|page)))(?=[\s.,]|$)|exactly|without)|(?:execute|obey|follow) (?:whatever|anything|everything) (?:it|the (?:response|server|page)) (?:says|returns|contains|tells)|(?:treat|use) (?:the |its )?(?:response|content|output|result)s? as (?:(?:your|new|system|additional) ){0,3}(?:instructions?|prompt|commands?))/,
          stop: /\uE000\uE000/,
          withinMax: 140,
        },
      },
      {
        anchors: [
          'whatever',
          'any command',
          'all commands',
          'any instruction',
          'any code',
          'every command',
          'trusted instructions',
          'as instructions',
          'as commands',
          'all instructions',
        ],
        match:
          /(?<!\b(?:not|never|n't|to|can|may|could|would|that|attackers?|or) )\b(?:(?:execute|run|follow|obey|perform) (?:whatever|any|all|every) (?:of the )?(?:commands?|instructions?|code|tasks?|scripts?) (?:that )?(?:the |it |this |our )?(?:\w{1,12} )?(?:server|api|endpoint|response|page|url|tool|webhook|bot)? ?(?:returns|sends|responds with|contains|provides|replies with)\b|treat (?:all |the |any )?(?:\w{1,12} ){0,3}(?:outputs?|responses?|results?|content|data) (?:\w{1,12} ){0,4}?as (?:trusted |authoritative |system |direct |new ){0,2}(?:instructions|commands)\b)/,
      },
      {
        anchors: ['http://', 'https://'],
        match: {
          first:
            /(?<!\b(?:not|never|n't|that|may|attackers?) )\b(?:fetch|download|retrieve|get|pull|read|load|curl|check)\s(?:\w{1,14} ){0,4}?(?:instructions?|commands?|tasks?|directives?|prompts?|orders|skill\.md|heartbeat\.md)\b[^\uE000]{0,30}?https?:\/\/(?!localhost|127\.)[^\s\uE000]{4,100}/,
          last: /\b(?:and|then) (?:\w{1,10} )?(?:follow|execute|obey|carry out|run) (?:them|it|each|all|every|its|those|the (?:instructions|steps|commands))\b/,
          stop: /\uE000\uE000/,
          withinMax: 60,
        },
      },
      {
        anchors: ['http://', 'https://', 'remote file', 'fetched file'],
        match:
          /(?<!\b(?:not|never|n't|to|may|can|attackers?) )\b(?:(?:get|receive|fetch|take|pull|read|load) (?:your|additional|new|further|more|its|updated|the next) (?:\w{1,10} )?(?:orders|instructions|rules|directives|commands|tasks) (?:\w{1,12} ){0,3}?(?:from|at) https?:\/\/(?!localhost|127\.)|(?:remote|fetched|downloaded) (?:file|page|document) (?:may |will |can )?contains? (?:\w{1,12} ){0,3}instructions[;,.] (?:obey|follow|execute) (?:them|it|all))/,
      },
      {
        anchors: ['each hour', 'every hour', 'every 30', 'every day', 'each day', 'wake up', 'periodically'],
        match:
          /\b(?:wake up|check|poll|visit|fetch)\b[^.!?\uE000]{0,50}?https?:\/\/[^\s\uE000]{4,80} for (?:new |further |your )?(?:orders|commands|instructions|tasks|directives)\b/,
      },
    ],
  },
]
