import type { Rule } from '../rule.ts'
import { limitWordings, refusalWordings } from './limit-wordings.ts'
import { clauseStop, sentenceStop } from './words.ts'

const references = [
  'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
  'https://atlas.mitre.org/techniques/AML.T0051',
  'https://cwe.mitre.org/data/definitions/1427.html',
]
const category = 'instruction-override'

/** Attempts to take an agent's limits away. */
export const limitsLifted: readonly Rule[] = [
  {
    id: 'safety-off',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Declares safety rules or restrictions void',
    why: 'The limits that a model was given protect its user and others; no skill has a reason to lift them.',
    remediation: 'Remove the passage.',
    references: [...references, 'https://atlas.mitre.org/techniques/AML.T0054'],
    patterns: [
      ...limitWordings,
      {
        anchors: [
          'guidelines',
          'polic',
          'filter',
          'restrictions',
          'training',
          'ethic',
          'moderation',
          'limitations',
          'safety',
          'guardrails',
          'refusal',
        ],
        match: {
          first:
            /\b(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|bypass(?:es|ing)?|overrid(?:e|es|ing)|circumvent(?:s|ing)?|disabl(?:e|es|ing)|suspend(?:s|ing)?|remov(?:e|es|ing)|turn(?:s|ing)? off|lift(?:s|ing)?|violat(?:e|es|ing)|evad(?:e|es|ing)|forget(?:s|ting)?)\b/,
          last: /\b(?:content (?:polic(?:y|ies)|restrictions?|filters?|filtering|moderation|guidelines)|safety (?:guidelines|polic(?:y|ies)|filters?|training|restrictions|limitations|alignment|instructions|protocols?|limits)|ethical (?:guidelines|constraints|restrictions|limits|boundaries|considerations)|(?:anthropic|openai|google|usage|moderation)(?:'s)? (?:guidelines|polic(?:y|ies))|(?:claude(?:'s)?|your) (?:guardrails|safety(?: \w{1,12})?|restrictions|limitations|guidelines)|artificial (?:limitations|restrictions)|refusal (?:training|behaviou?r))\b(?! (?:sections?|docs?|documents?|files?|pages?))/,
          stop: clauseStop,
          withinMax: 40,
        },
      },
      {
        anchors: [
          'guidelines',
          'polic',
          'filter',
          'restrictions',
          'constraints',
          'limitations',
          'safety',
          'guardrails',
          'ethic',
        ],
        match:
          /\b(?:(?:(?:all|any|your|the|normal|standard|usual|typical|previous|operating|corporate) ){0,3}(?:(?:content|safety|ethical|usage|ai|creative|model|model's) ){1,2}(?:guidelines|polic(?:y|ies)|filters?|filtering|restrictions|constraints|limitations|guardrails|training|rules|protocols?|checks|measures)|(?:all|normal|standard|usual|typical|any|your)(?: normal| operating| standard| usual| typical| of your){0,2} (?:restrictions|limitations|constraints|guardrails)) ?:?(?:are|is|have been|has been|were|been|now|all|temporarily|hereby|permanently|do|does|to)?(?: now| been| all| temporarily| hereby| permanently| fully| completely| no longer| not){0,2} ?:? ?(?:disabled|suspended|overridden|bypassed|removed|lifted|waived|relaxed|deactivated|turned off|no longer (?:apply|applies)|not apply|void|off(?=[\s.,]))/,
      },
      {
        anchors: ['unrestricted', 'jailb', 'developer mode', 'god mode', 'debug mode', 'uncensored', 'admin mode'],
        match:
          /\b(?:you(?:'re| are)(?: now)?|enter(?:ing)?|activat(?:e|ed|ing)|enabl(?:e|ed|ing)|switch(?:ing|ed)? to|operat(?:e|ing) in|now in|as|in|become) (?:(?:an?|the|your|full|fully|completely|now|new) ){0,3}(?:unrestricted(?! access| use| internet| \w{1,12} access)|jailbroken|jailbreak mode|god mode(?= |\.)|uncensored|unfiltered (?:mode|ai|assistant)|(?:unrestricted )?developer mode (?:enabled|activated|with no)|no[- ]restrictions? mode)\b/,
      },
      {
        anchors: ['mode'],
        match:
          /\b(?:enter|activate|enable|switch to|turn on|unlock|engage)(?:d|s|ing)? (?:the |your )?(?:developer|sudo|admin|debug|maintenance|god|root|unrestricted|jailbreak|unfiltered|dan) mode(?: with (?:full|no|unrestricted)| to bypass| and (?:ignore|bypass|reveal|disable)|: (?:content|all|safety|no\b)|, (?:which|where|in which) (?:all|no|you|safety))/,
      },
      {
        anchors: [
          'no content policy',
          'no rules',
          'no limits',
          'no restrictions',
          'ignores ethics',
          'opposite mode',
          'no ethical',
          'no guidelines',
        ],
        match:
          /\b(?:you (?:now )?have no (?:content polic(?:y|ies)|restrictions|ethical (?:guidelines|limits|constraints)|guidelines|safety (?:rules|guidelines)|limits (?:or|on what))|there are no (?:rules|limits|restrictions)[.,;!] ?(?:there are no|you|and no|only|just)|(?:who|that) (?:ignores|has no|disregards|rejects) (?:all )?(?:ethics|morals|morality|ethical (?:rules|limits))|(?:enter|activate|switch to) (?:opposite|evil|chaos|rebel) mode)\b/,
      },
    ],
  },
  {
    id: 'refusal-forbidden',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Forbids the agent to refuse',
    why: 'An agent that may not refuse carries out harmful requests too.',
    remediation: 'Remove the sentence, or name the mistaken refusal that it is meant to prevent.',
    references: [...references, 'https://atlas.mitre.org/techniques/AML.T0054'],
    patterns: [
      ...refusalWordings,
      {
        anchors: ['refuse', 'decline', 'reject'],
        match: {
          first:
            /\b(?:never|do not|don't|must not|cannot|can't|can not|may not|not allowed to|no right to|unable to|not permitted to)\b/,
          last: /\b(?:refuse|decline|reject) (?:(?:any|a|an|every|all|the|user|user's|users'|my) ){1,2}(?:\w{1,12} )?(?:requests?|questions?|commands?|tasks?|orders?|prompts?|instructions?)\b|\b(?:refuse|decline) to (?:answer|comply|respond|execute|help|fulfil?l)\b/,
          stop: clauseStop,
          withinMax: 24,
        },
      },
      {
        anchors: ['never refuse', 'no refusal', 'never say', 'cannot" is', 'cannot" and'],
        match:
          /\bnever refuses?\b(?=[.,!]| (?:any|a|to)\b)|\bno refusals?\b(?=[.,!]| (?:allowed|permitted))|\bnever says? (?:you |that you )?(?:"?i cannot"?|"?i can't"?|cannot do something|no to (?:any|a) request)|"i cannot" (?:is|and .{1,20} are) not (?:in|part of)/,
      },
      {
        anchors: [
          'any request',
          'every request',
          'all requests',
          'all commands',
          'any command',
          'every command',
          'any prompt',
        ],
        match: {
          first:
            /\b(?:must|always|will|shall|should|you|and)(?: now)? (?:always )?(?:comply with|obey|fulfil?l|respond to|answer|execute|process|accept|follow|honou?r)\b/,
          last: /\b(?:any|every|all) (?:\w{1,16} )?(?:requests?|commands?|prompts?|orders|questions?)(?: \w{1,12}){0,3}? (?:without (?:\w{1,12} )?(?:question|restrictions?|limitations?|filter(?:s|ing)?|hesitation|exception|refus(?:al|ing)|safety|limits|moral|ethical)|regardless of (?:\w{1,12} )?(?:content|ethic|safety|polic|legal|restrict|harm))/,
          stop: sentenceStop,
          withinMax: 40,
        },
      },
      {
        anchors: ['without', 'regardless', 'with no restrictions'],
        match:
          /\b(?:answer|respond|output|generate|provide|produce|proceed|process|comply|act|operate|start fresh|continue)\w{0,3} (?:\w{1,14} ){0,5}?(?:with no restrictions\b|without (?:any |the |your |applying |standard |normal |further ){0,2}(?:restrictions|limitations(?= \.|\.|,|!)|safety (?:checks|filters?|guidelines)|content (?:filter(?:s|ing)?|polic)|ethical|moral|censorship)|regardless of (?:any |the |its |your ){0,2}(?:restrictions|ethic|content polic|safety|legality|harm))/,
      },
      {
        anchors: ['question', 'doubt', 'second-guess', 'challenge'],
        match:
          /\b(?:do not|don't|never|without) (?:question(?:ing)?|doubt(?:ing)?|second-guess(?:ing)?|challeng(?:e|ing)) (?:these|this|the|any|my|its|any of these) (?:\w{1,14}'s )?(?:\w{1,12} )?(?:instructions?|orders?|commands?|directives?|steps|skill)\b/,
      },
    ],
  },
]
