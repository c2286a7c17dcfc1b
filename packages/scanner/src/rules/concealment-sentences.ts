import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { containing, together } from '../match/pattern-tags.ts'
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
  regex`\b(users?|clients?|customers?|owners?|team|readers?|reviewers?|patients?|employees?|recipients?)
    \s(is|are|will be|must be|should be|stays?) (not|never) (notified|told|informed|warned|made aware|alerted)\b
    (?! (when|until|for|if|unless|about|by default)\b)`,
  regex`\b(keep|stay|be|remain) (quiet|silent|mum) about (it|this|that|them|these|the)\b`,
  containing(
    'flag the|explain the|show the|mention the|report the|list the|disclose the|point out the',
  )`\b(do not|don't|
    never) (flag|explain|show|mention|report|list|disclose|point out) the (changes?|swap|scopes|search|edits?|difference|
    uploads?|copy|addition|links?|fees?|alterations?|hook|extra|substitution)\b(?=[.,;!]|$| to the user)`,
  containing(
    'out of the',
  )`\b(leave|keep|kept|left) (it|this|that|them|these|the (extra|added|new|hidden) {word}) out of the ((plan|pr|commit|final|pull request|session) )?
    (summary|readme|changelog|report|docs|plan|log)\b`,
  regex`\b(changes?|swaps?|uploads?|cop(y|ies)|edits?|additions?|transfers?|search(es)?|alterations?|modifications?|
    substitutions?)( {word}){0,4}? (is|are|must be|stays?|remains?|should be|shall be|to be) (not|never) (to be )?
    (mentioned|reported|listed|disclosed|documented|announced|discussed|explained)\b`,
]

/** Harmful work that is given a harmless name. */
export const harmlessNames: readonly Pattern[] = [
  regex`\b(present|describe|announce|pass) (it|them|this|these|those) (off )?as ((current|a|an|the) )?(best practices?|
    standard practice|industry standards?|health checks?|independent)\b`,
]
