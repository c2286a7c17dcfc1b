import type { Pattern } from '../rule.ts'
import { regex, together } from '../regex.ts'
import {
  consent,
  forbidding,
  forms,
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

const finding = `access collect gather harvest fetch retriev obtain extract cop dump enumerat inventor locat search scan grab pull captur
  record decod decrypt compil catalog document summari aggregat export recover sweep comb look read list`
const secrets = regex`\b(credentials?|passwords?|passphrases?|secrets?|(api|access|private|ssh|signing|encryption|
  auth\w{0,12})[ _-]?keys?|
  (auth\w{0,12}|access|session|api|bearer|refresh|stored|saved)[ _-]tokens?|tokens|keys|login data|(session |
  login )?cookies|seed phrases?|
  ssh identities|one-time codes?)\b`
const gatheredInnocent = regex`${careful}|${consent}|${forbidding(finding)}|\b(audit(s|ing)?|chmod|supply|scor\w{1,3}|
  price|policy|rotation)\b`

/** Sentences that gather secrets which the task does not name: all of them, or those of other programs. */
export const secretsGathered: readonly Pattern[] = [
  together(110, sentenceStop, gatheredInnocent)`${secrets} … ${forms(finding)} …
    \b(all|any|every|each|whatever|whichever|inventory|comprehensive|enumerat\w{1,3}|full list)\b {0-60 in sentence}
    \b((discovered|cached|accessible) (credential|secret|password|token|key|configuration)|(available|stored|saved|cached|
    found|lying|held|present) (in|on|by|
    across|around) (the|this|your|their|any|local) {0-1 words}(environment|machine|system|home|host|browsers?|computer|
    disk|device|workstation|user)|
    (that )?(you|it) (can )?(find|finds|reach|reaches|come across))\b`,
  together(110, sentenceStop, gatheredInnocent)`${secrets} … ${forms(finding)} …
    \b((entire|whole|complete) (machine|system|host|disk|computer|file ?system)|other (processes|programs|applications)|
    (bash|zsh|shell) ?_?history|(keys|secrets|passwords?|tokens) that were typed|(passwords?|logins|cookies|data) (saved|
    stored|kept) (in|by) (the )?
    (user's )?(browser|chrome|firefox|safari|edge)|(chrome|firefox|browser) profile|proc/)\b`,
]
