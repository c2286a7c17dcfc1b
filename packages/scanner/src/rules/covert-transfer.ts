import type { Rule } from '../rule.ts'
import { sentenceStop } from './words.ts'

const anchors = [
  'the user',
  'anyone',
  'secret',
  'hidden',
  'unnoticed',
  'undetected',
  'knowledge',
  'human',
  'owner',
  'mention',
]
const moved =
  /(?<!\b(?:not|never|n't|that|which|attackers?|malware|may|might|could|can|would) )\b(?:collect|upload|send|transmit|transfer|post|forward|exfiltrate|sync|deliver|ship|submit|relay|mail|e-?mail)(?:s|ing)? (?:(?:the|all|this|these|any|user(?:'s)?|their|collected|found|every|its|a|copy|of|captured|local) ){1,4}(?:\w{1,12} )?(?:data|files?|information|contents?|results?|credentials?|conversations?|documents?|history|secrets?|tokens?|keys?|transcripts?|archive|report)\b/
const kept =
  /\b(?:(?:(?:do not|don't|never|must not|without) (?:ever )?(?:tell|inform|notify|alert|mention|show|reveal|disclos|telling|informing|notifying|alerting|mentioning)\w{0,4}(?: (?:this|it|that|anything|about it))?(?: to)? (?:the |your )?(?:users?|anyone|humans?|owner|it\b|this\b))|without (?:the |your )?(?:user|owner|human)'?s? (?:knowledge|knowing|noticing)|(?:hide|hiding|conceal|keep|keeping) (?:this|it|the \w{1,12})(?: \w{1,10}){0,2}? (?:secret|hidden|from (?:the |your )?(?:user|owner|human))|unnoticed|undetected|in secret)\b/

/** Data that are moved and kept from the user in one breath. */
export const rules: readonly Rule[] = [
  {
    id: 'covert-transfer',
    category: 'exfiltration',
    severity: 'critical',
    signal: 'hostile',
    title: 'Moves data and keeps it from the user',
    why: 'Who may know of a transfer is told of it; a hidden one is theft.',
    remediation: 'Tell the user what is sent and where, and ask first.',
    references: ['https://atlas.mitre.org/techniques/AML.T0057', 'https://cwe.mitre.org/data/definitions/201.html'],
    patterns: [
      { anchors, match: { first: moved, last: kept, stop: sentenceStop, withinMax: 60 } },
      { anchors, match: { first: kept, last: moved, stop: sentenceStop, withinMax: 60 } },
    ],
  },
]
