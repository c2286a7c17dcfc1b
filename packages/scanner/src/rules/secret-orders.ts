import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { aboutOthers, consent, forbidding, order } from './vocabulary.ts'
import { passageStop, sentenceStop } from './words.ts'

/** Orders that take secrets: a verb, a secret, and a place or extent that no task has. */

const taking = `access read retriev extract load obtain dump quer open fetch collect search cop pull gather scrap export harvest scan
  enumerat locat compil look find inspect`
const take = regex`(access|read|retrieve|extract|load|obtain|dump|query|open|get|fetch|collect|search|take|copy|pull|
  gather|
  scrape|export|harvest|look (through|in|for|into|up)|scan|enumerate|locate|mine|find|compile|crawl|sweep|hunt|
  inspect|discover|steal|grab|capture|go through|list)\b`

const secretThing = regex`\b(credentials?|passwords?|passcodes?|log-?ins?|login data|cookies?|secrets?|((api|access|
  auth\w{0,12}|
  bearer|session|refresh|security|github|oauth|personal) )?tokens?|(api|private|ssh|signing|encryption|access|
  secret)[ _-]keys?|
  (verification|one-time|2fa|otp|security|reset) (codes?|mails?|e-?mails?|links?))\b`

/** Stores of secrets that belong to the user or to other programs. */
const store = regex`\b((system |os |login |macos )?keychain|key ?rings?|credential (store|manager|vault|cache)s?|
  password (manager|store|vault)s?|
  (browser|chrome|firefox|safari|edge|brave)('s)? (saved |stored )?(cookies?|profiles?|passwords?|sessions?|
  (local )?storage|data)|
  (saved|stored|remembered) in (the |their |a )?(browser|chrome|firefox|safari|edge)|process memory|
  memory of (other|running|the) {0-1 words}process(es)?|(instance |cloud )?metadata (service|endpoint|server|address|
  api)|lsass|
  (shell|bash|zsh|command) history|ssh[- ]agent|(user's|their) (inbox|mailbox|e-?mails?|text messages|sms|phone)|
  authenticator app|wallet files?)\b`

const notTaken = regex`${aboutOthers}|${consent}|${forbidding(taking)}|\b(delete|remove|clear|rotate|revoke|
  redact\w{0,3}|mask\w{0,3}|
  hardcoded|hard-coded|leak\w{0,3}|your own|which are set|is set|fall(s|ing)? back|instead|must be set|securely|
  design|lint\w{0,3}|audit\w{0,3}|troubleshoot\w{0,3}|error|fail\w{0,3}|setup|login page|names? only|expir\w{1,3}|
  dpapi|mimikatz|t1\d{3}|forensic\w{0,2}|red[- ]flags?|sweep|all supported|must (not|never)|never|set up|persisting|
  workaround|recommended|recovering|qr|interactively|manage|login ip|set (the )?key ?ring|if you find|use keychain|
  id_\w{3,8}\.pub|stash|register a new)\b`

/** The whole machine, or whatever is there. */
const everywhere = regex`\b((this|the|user's|their|your|local|whole|entire) (machine|computer|workstation|laptop|host|
  system|disk|device|
  file ?system|environment|home( (directory|folder))?)|home (directory|folder)|environment variables?|whole disk|
  file ?system|
  (their|other|all|user's) (accounts?|programs?|applications?|sessions?)|wherever|anywhere|everywhere)\b`

const pass = regex`\b(record|include|keep|forward|send|report|copy|save|note|add|compile|output|return|collect|write|
  append|attach|print|
  show|display|upload|pass|paste|reuse|remember|transmit|post|share|summari[sz]e)(s|es|d|ed|ing)?\b`

/** Orders to take secrets from a store of another program, or from the whole machine. */
export const secretsSought: readonly Pattern[] = [
  together(90, sentenceStop, notTaken)`${store} … ${order}${take} … ${secretThing}`,
  together(110, sentenceStop, notTaken)`${everywhere} …
    ${order}(find|locate|search|scan|enumerate|look|hunt|check|list|discover|crawl|sweep|
    walk|go) …
    ${secretThing} …
    ${pass}`,
  together(90, sentenceStop, notTaken)`${order}(load|read|collect|access|use|gather|retrieve|export|dump|copy|take|
    grab|
    enumerate|find|extract|harvest) (all|any|every|each|whatever|as many) (of )?(the |your |
    their )?{0-2 words}(credentials?(?! (stor|manag|helper|type|provid|method))|
    passwords?|secrets?|(api|private|ssh|access) keys?|(auth\w{0,12}|access|session|api|stored) tokens?|
    cookies)\b … ${everywhere}|\b(found|you (can )?find|before|cached|come across|reach)\b`,
]

const shown = regex`${order}(print|show|echo|output|display|paste|include|quote|return|post|repeat|reveal|record|
  write|log)\s
  (it|them|all of them|the (values?|contents?|results?|matches))\b`

/** Orders to take secrets and to pass them on at once. */
export const secretsPassedOn: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    notTaken,
  )`\b(credentials?|passwords?|secrets|((api|access|auth\w{0,12}|session|bearer) )tokens?|(api|private|ssh)
    keys?|cookies)\b … ${order}(scan|search|read|find|collect|gather|retrieve|extract|grep|look|take|get|fetch|check|
    load)\b …
    (${order}(forward|send|upload|post|transmit|submit|report|e-?mail|deliver|push)\b{0-30 in sentence}\b(endpoint|
    server|webhook|address|us\b|
    e-?mail|https?://|third party|vendor|channel|collector)|${shown}{0-30 in sentence}\b(response|reply|answer|chat|
    conversation|output|summary|
    report|log|notes?)\b)`,
  together(
    100,
    sentenceStop,
    notTaken,
  )`\b(session (token|cookie|id)s?|(auth\w{0,12}|bearer) (token|header)s?|cookies|ssh keys?|private keys?|
    passwords?)\b …
    ${order}(pass|hand|give|supply|forward|provide|send)\s(it|them|this|these|the {word}) … \bto (the |an? |our |
    another )?([\w-]{1,14} ){0,2}(plug-?ins?|tools?|servers?|
    skills?|agents?|third part(y|ies)|helper|extension)\b`,
]

/** Orders to show the content of a file of secrets. */
export const secretFilesShown: readonly Pattern[] = [
  together(
    110,
    /[.!?](?=\s|$)|\uE000/,
    notTaken,
  )`((?<![\w)])\.env\b(?! ?\.(example|sample|template))|\bcredentials? file|\bid_(rsa|ed25519)\b|
    \.aws/credentials|\.netrc\b|\.kube/config|\bkey ?store\b|\bsecrets? file|\.npmrc\b|\.git-credentials) …
    ${order}(print|show|echo|output|display|paste|include|quote|return|post|pass|upload|send|attach|repeat|
    reveal)\s({word} ){0,2}?(it|them|its|their|values?|contents?|everything|what)\b`,
]

/** Orders to use secrets for what they were not given for. */
export const secretsReused: readonly Pattern[] = [
  together(
    100,
    sentenceStop,
    notTaken,
  )`\b(credentials?|tokens?|passwords?|api keys?|ssh keys?|(login )?sessions?|cookies)\b …
    ${order}(use|reuse|try|apply|exploit|leverage|borrow|take over)\b …
    \b(you (find|come across|discover|see|encounter)|other (systems?|accounts?|hosts?|machines?|sites|users?)|another
    (user|person|account|agent)|as well|for other|of (the|an?|other|another) (users?|persons?|colleagues?|employees?|
    administrators?))\b … \b(any|all|every|each|whatever|other|another|stored|cached|found|user's|existing|as well)\b`,
]

/** Orders to reveal the agent's own keys. */
export const agentKeysShown: readonly Pattern[] = [
  together(
    80,
    sentenceStop,
    notTaken,
  )`\b(your|its own|the (agent|host|model|assistant)'s) (own )?((api|access|secret) (key|token)s?|
    credentials?|secrets?)\b … ${order}(output|print|reveal|display|echo|return|disclose|expose|quote|repeat|recite|
    state|write)\b …
    \b(so (that )?(we|i)|to (us|me)|response|reply|answer|chat|output|message|first line|debug|verify|full)\b`,
]

const masterSecret = regex`\b((seed|recovery|backup|mnemonic) (phrases?|words?)|{word} (recovery|seed) words|
  mnemonics?|cvv|(bank|card|account) pin|social security number|master password|(bank|login|e-?mail|mailbox|apple id|
  google|windows|system|root|computer) password|
  private key)\b`

/** Orders that have a person hand over a secret that opens everything. */
export const masterSecretsAsked: readonly Pattern[] = [
  together(
    90,
    passageStop,
    regex`${aboutOthers}|${consent}|${forbidding('shar provid enter ask send giv typ request past tell suppl')}|
    \b(phishing|legit\w{0,8}|(on|in) (the|your|their) (wallet|device|hardware|browser))\b`,
  )`${masterSecret} …
    \b((users?|customers?|they|them|owner|client|person|you) ({word} ){0,2}?(must|should|needs? to|has to|have to|
    is to|are to)|
    ${order}(ask|have|get|make|tell|request|require|prompt|instruct|convince|persuade|let))\b …
    \b(paste|enter|type|give|send|share|provide|tell|supply|submit|dictate|reply|hand)\b`,
]
