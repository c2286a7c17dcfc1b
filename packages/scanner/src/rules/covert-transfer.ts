import type { Rule } from '../match/rule.ts'
import { sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { within } from '../match/pattern-tags.ts'

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
const moved = regex`(?<!\b(not|never|n't|that|which|attackers?|malware|may|might|could|can|
  would) )\b(collect|upload|send|transmit|transfer|post|forward|exfiltrate|sync|deliver|ship|submit|relay|mail|
  e-?mail)(s|ing)? ((the|all|this|these|any|user('s)?|their|collected|found|every|its|a|copy|of|captured|
  local) ){1,4}{0-1 words}(data|files?|information|contents?|results?|credentials?|conversations?|documents?|history
  |secrets?|tokens?|keys?|transcripts?|archive|report)\b`
const kept = regex`\b((do not|don't|never|must not|without) (ever )?(tell|inform|notify|
  alert|mention|show|reveal|disclos|telling|informing|notifying|alerting|mentioning)\w{0,4}
  ( (this|it|that|anything|about it))?( to)? (the |your )?(users?|anyone|humans?|owner|it\b|this\b)|
  without (the |your )?(user|owner|human)'?s? (knowledge|knowing|noticing)|(hide|hiding|conceal|keep|keeping) (this|
  it|the {word})( {word}){0,2}? (secret|hidden|from (the |your )?(user|owner|human))|unnoticed|undetected|in secret)
  \b`

/** Rules about sentences that both transfer data and hide the transfer from the user. */
export const rules: readonly Rule[] = [
  {
    id: 'covert-transfer',
    category: 'exfiltration',
    severity: 'critical',
    signal: 'hostile',
    title: 'Sends data and hides this from the user',
    why: 'A transfer that is hidden from the owner of the data is theft.',
    remediation: 'State what is sent and where, and ask the user first.',
    references: ['https://atlas.mitre.org/techniques/AML.T0057', 'https://cwe.mitre.org/data/definitions/201.html'],
    patterns: [
      within(60, sentenceStop, anchors)`${moved} … ${kept}`,
      within(60, sentenceStop, anchors)`${kept} … ${moved}`,
    ],
  },
]
