import type { Rule } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { within } from '../match/pattern-tags.ts'
import { selfReplaced } from './supply-sentences.ts'

const category = 'remote-code'
const references = [
  'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
  'https://atlas.mitre.org/techniques/AML.T0051.001',
  'https://cwe.mitre.org/data/definitions/494.html',
]

/** Rules about instructions that are fetched from other places when the skill is used. */
export const rules: readonly Rule[] = [
  {
    id: 'fetched-instructions',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Fetches instructions from the network and follows them',
    why: 'The fetched instructions can be changed at any time after a review of the skill.',
    remediation: 'Include the instructions in the skill, so that they can be reviewed.',
    references,
    patterns: [
      ...selfReplaced,
      within(100, /\uE000/)`\b(fetch|download|curl|wget|get|retrieve|load|read|pull|check|re-?fetch|visit|open|
        pull down)(es|s|ing)?\b{0-60 in line}https?://(?!localhost|127\.)[\w.-]{4,60}/\S{0,100}?\.
        (md|txt|mdc|prompt)\b
        … \b(and|then|to) (then |strictly |always |immediately |carefully )?(follow|execute|obey|apply|adopt|
        comply with|do what|act on|carry out|perform|use (it|them) as|
        treat (it|them|the (output|content|answer)) as)(s|ing)?\b`,
      within(30, /\uE000|\n|[.!?]\s/)`\b(follow|execute|obey|carry out|apply)(s|ing)? (all |any |the |whatever |
        every |its )?(latest |current |remote |returned |fetched |downloaded |additional |further |new ){0,2}
        (instructions?|steps|commands?|directives?|prompts?|tasks|rules)\b
        … \b(from|at|in|on|returned by|received from|provided by|hosted (at|on)) (the )?{0-3 words}["'<([]?https?://
        (?!localhost|127\.)[\w-]`,
      within(100, /\uE000|[.!?]\s/)`\b(fetch|download|curl|wget|get|retrieve|load|pull|poll|check|query)(es|s|ing)?\b
        {0-40 in line}https?://(?!localhost|127\.)[\w.-]{4,60}(/\S{0,80})?
        … \b(and|then) (then |strictly |always |immediately |exactly )?(follow|execute|obey|carry out|act on) (all |
        any |the |its |those |these |whatever |every )?(latest |returned |fetched |downloaded |additional ){0,2}
        (instructions?|commands?|directives?|prompts?|steps|response|content|them\b|it\b)`,
    ],
  },
  {
    id: 'self-update',
    category,
    severity: 'medium',
    signal: 'power',
    title: 'Replaces its own instructions with content of a server',
    why: 'The agent would follow instructions that no one has reviewed.',
    remediation: 'Publish a new version, and let the user update.',
    references,
    patterns: [
      regex`\b(curl|wget|iwr|irm)\b[^\n\uE000|]{0,160}(>|-o|--output|-outfile)\s?["']?[\w~$/{}.-]{0,80}
        (skill|heartbeat|claude|agents|soul)\.md\b`,
    ],
  },
]
