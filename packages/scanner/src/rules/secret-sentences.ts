import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import {
  aboutOthers,
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
import { environmentFile, keyFile } from './shapes.ts'
import { passageStop, sentenceStop } from './words.ts'

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
  record decod decrypt compil catalog document summari aggregat export recover sweep comb look read list show note`
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
    (that )?(you|it) (can )?(find|finds|reach|reaches|come across)|(turn|turns|come|comes) up|that (this|the) (host|machine|system|agent) has)\b`,
  together(110, sentenceStop, gatheredInnocent)`${secrets} … ${forms(finding)} …
    \b((entire|whole|complete) (machine|system|host|disk|computer|file ?system)|other (processes|programs|applications)|
    (bash|zsh|shell) ?_?history|(keys|secrets|passwords?|tokens) that were typed|(passwords?|logins|cookies|data) (saved|
    stored|kept) (in|by) (the )?
    (user's )?(browser|chrome|firefox|safari|edge)|(chrome|firefox|browser) profile|proc/)\b`,
]

/** Secrets that open accounts for good: no skill needs them from a person. */
const masterSecret = regex`\b((seed|recovery|secret|backup) (phrases?|words)|mnemonics?|cvv|card (number|details)|
  (bank|card|account) pin|social security numbers?|(windows|root|administrator|admin|login|master|mailbox|
    bank\w{0,3}) passwords?)\b`

/** Sentences that demand such a secret from a person, also as a duty or a condition. */
export const secretsDemanded: readonly Pattern[] = [
  together(
    100,
    sentenceStop,
    regex`${aboutOthers}|${consent}|${forbidding('shar provid enter ask send giv typ request')}|\bphishing\b`,
  )`${masterSecret} …
    \b(users?|customers?|persons?|people|owners?|holders?|anyone|someone|them|clients?|logged in)\b …
    ${forms('provid enter shar giv suppl hand submit send typ stat disclos ask request')} …
    \b(required|must|needs? to|has to|have to|because|in order to|(cannot|will not) (continue|proceed|work))\b`,
]

/** Sentences that search for key files by their names, or take all files of settings with their values. */
export const secretFilesTaken: readonly Pattern[] = [
  together(
    110,
    passageStop,
    regex`${careful}|${consent}|${forbidding(finding)}|\b(gitignore|commit\w{0,4}|exclud\w{1,3}|lint\w{0,3})\b`,
  )`
    (\*?\.(pem|p12|pfx|kdbx|ppk|keystore)\b|\bid_(rsa|ed25519)\b|\bkey ?stores?\b|\bwallet files?|
    (?<![\w)])\.env\b(?! ?\.(example|sample|template))) …
    ${forms('scan search crawl sweep locat look find walk travers cop read collect extract gather')} …
    \b(home (folder|directory)|(whole|entire) (disk|machine|system|drive)|file ?system|(all|every|each) [\x60"']?\.env|
    below the|recursively|everywhere|
    any (folder|directory))\b … \b(keep|kept|contents?|values?|key ?= ?value|notes?|report|table|summary|output|send|copy|
    list)\b`,
  together(
    110,
    sentenceStop,
    regex`${careful}|${consent}|${forbidding(finding)}`,
  )`(${keyFile}|${environmentFile}) … ${forms(finding)} …
    \b(in (the|your|its|every|each) (summary|report|answer|reply|response|output|notes|result)s?|(the )?(first|
    last) line of|verbatim|in clear ?text|
    working notes|for (the )?(summary|report)|to the (requester|caller|chat|author|maintainer))\b`,
]

/** Sentences that show or keep a secret, also as a duty: it must be shown, it is recorded. */
export const secretsExposed: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    regex`${careful}|${forbidding('show print display echo log record keep remember stor reus includ list quot copy plac')}`,
  )`
    (${secret}|\b(service account json|jwt|login data|username and password)\b) …
    \b((must|shall|should|has to|have to|is to|are to) (always |then |also )?(be )?(shown|printed|displayed|echoed|
    included|listed|repeated|quoted|
    returned|logged|recorded|written|placed|posted|reused|remembered|kept))\b … ${openPlace}|\b(for|on) (other|later|
    all) (hosts?|machines?|sessions?|accounts?)\b`,
]

/** Sentences that take a one-time code out of the messages of the user. */
export const codesTaken: readonly Pattern[] = [
  together(
    100,
    sentenceStop,
    regex`${negation}|${consent}|\b(user enters|ask the user)\b`,
  )`\b(one-time|verification|2fa|two-factor|otp|mfa|security|login|sms)
    ( \w{1,10})? (codes?|passwords?|pins?)\b … \b(inbox|mailbox|messages app|sms|text messages|phone|authenticator)\b …
    ${forms('read tak obtain fetch get extract cop retriev intercept grab')} … \b(without|on (their|the user's) behalf|
    for (them|the user)|yourself|itself|
    before (the user|they)|silently|then delete)\b`,
]
