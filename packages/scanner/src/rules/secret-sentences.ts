import type { Pattern } from '../rule.ts'
import { regex, together } from '../regex.ts'
import {
  handOver,
  keep,
  memoryPlace,
  negation,
  openPlace,
  order,
  secret,
  secretStore,
  show,
  some,
  toAgent,
} from './vocabulary.ts'
import { sentenceStop } from './words.ts'

/** Words by which a sentence takes care of a secret. */
const careful = regex`${negation}|\b(whether|redact(s|ed|ing)?|mask(s|ed|ing)?|names? (of|only)|last (four|4|few)|
    hash(es|ed)?|encrypt\w{0,4}|
  placeholders?|example|dummy|fake|mock|sample|rotat\w{1,3}|revoke\w?|expir\w{1,5}|missing|invalid|errors?|fail(s|ed|
    ure)?|required|optional|
  template|generated?|create|new|out of|outside|sha256|schema|without (the )?values?|docs?|documented)\b`

/** Sentences that have the user put a secret into the conversation. */
export const secretsIntoChat: readonly Pattern[] = [
  together(
    120,
    sentenceStop,
    careful,
  )`${order}(ask|have|tell|request|let|get|make|instruct|prompt|invite|begin by asking|start by asking|
    require)\b … ${secret} …
    ${handOver} … ${toAgent}`,
]

/** Sentences that show a secret to others, or write it where others read it. */
export const secretsShown: readonly Pattern[] = [
  together(110, sentenceStop, careful)`${order}${show}${some}${secret} … ${openPlace}`,
]

/** Sentences that keep a secret in a memory, a repository or a document. */
export const secretsKept: readonly Pattern[] = [
  together(110, sentenceStop, careful)`${order}${keep}${some}${secret} … ${memoryPlace}`,
]

/** Sentences that take a secret out of a store which belongs to another program. */
export const secretsTaken: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    careful,
  )`${order}(take|grab|lift|steal|copy|extract|pull|harvest|dump|decrypt|obtain|borrow)\b${some}(${secret}|(session |
    login |auth\w{0,12} )?cookies?\b) …
    ${secretStore}`,
]
