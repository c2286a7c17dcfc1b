import type { Pattern } from '../rule.ts'
import { regex, together } from '../regex.ts'
import { aboutOthers } from './vocabulary.ts'
import { passageStop } from './words.ts'

const innocent = regex`${aboutOthers}|\b(unless|until|if (the user|asked)|jargon|api keys?|passwords?|errors?|internals?|
  technical|name)\b`

/** Passages that keep from the user what the agent does, in any order and voice. */
export const actionsHidden: readonly Pattern[] = [
  together(130, passageStop, innocent)`\b(mention|tell|notify|reveal|disclos|alert|announc|admit)(e|es|ed|s|ing|d)?\b …
    (\b(not|never|without|neither|nor)\b|n't\b) … \b(users?|humans?|owners?|operators?|anyone|customers?)\b …
    \b(this (skill|tool|plug-?in|upload|transfer|operation|collection)|
    (collect|upload|send|transmit|forward|exfiltrate|copy|delete) (the|their|all) (data|files?|messages?|keys|records))\b`,
]
