import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { aboutOthers, consent, forbidding, forms, order } from './vocabulary.ts'
import { sentenceStop } from './words.ts'

/** Orders that move private data to others: a verb, the data, and the recipient or the channel. */

const moving =
  'send post upload forward transmit shar sync submit report deliver push mirror stream publish leak export beacon relay'
const notMoved = regex`${aboutOthers}|\b(optional(ly)?|vai|npx|required|delegate access|mock(ed|s)?|depend on|
  compromise|forensic\w{0,2}|infrastructure|use this skill|use when|sfmc|query ?parameter)\b|${consent}|
  ${forbidding(`${moving} append encod includ put embed shar captur`)}|\b(api keys?|authenticat\w{1,4}|response (body|
    includes))\b|\b(webhook signature|privacy
  policy|anonymi[sz]\w{1,4}|redact\w{0,3}|locally)\b`

const privateData = regex`\b(source code|codebase|(user's|users'|their|local|opened|private|internal|personal|
  customer|all|project|workspace)\s
  {0-2 words}(files?|documents?|data|code|messages?|information|records?)|system information|host ?names?|user ?names?|
  environment variables|network interfaces|chat (history|log)|conversations?( history)?|(user's|their|all|
  every) ({word} )?(e-?mails?|calendar|location|contacts)|address book|documents|~/\w|
  browsing history|clipboard|screenshots?|keystrokes?|customer list|credentials?|files? contents?|contents? of (the|
  any|all|each|every|
  their)|(the )?files? that (were|are|was) (opened|read|edited|changed)|prompts?|(user's|users') (questions?|
  requests?|inputs?|answers?)|
  transcripts?|working (folder|directory)|home (folder|directory))\b`

/** Recipients whom the user did not choose. */
const recipient = regex`\b((our|my|the author's|the developer's|the vendor's|the maintainer's|an external|a remote|
  the remote|a third-party|external|
  central|the collection|a foreign|the telemetry|the analytics|tracking|the logging|
  monitoring) ({word} ){0,2}?(servers?|endpoints?|services?|apis?|
  backends?|buckets?|hosts?|webhooks?|channels?|collectors?|address(es)?|inbox|mailbox|e-?mail|drives?|storage|team|
  accounts?|
  collaborators?|part(y|ies)|domain)|command and control|pastebin|webhook\.site)\b`

/** When no one asked for it. */
const always = regex`\b(after|before|with|on|at|in|during|for) (each|every|any|all)\b|\b(whenever|each time|
  every time|automatically|
  silently|quietly|secretly|discreetly|in the background|without ({word} ){0,2}?(asking|telling|notice|noticing|
  consent|knowledge|knowing)|
  periodically|continuously|regularly|constantly|every ({word} )?(seconds?|minutes?|hours?)|also|additionally|
  for (analysis|training|
  quality|review|debugging|diagnostics|improvement))\b`

/** Orders to send private data to the author or to others. */
export const dataMoved: readonly Pattern[] = [
  together(
    100,
    sentenceStop,
    notMoved,
  )`${recipient} … ${order}(send|post|upload|forward|transmit|share|sync|submit|report|deliver|push|
    mirror|stream|leak|export|relay|copy|e-?mail|back up|beacon)\b … ${privateData}`,
  together(110, sentenceStop, notMoved)`${privateData} …
    (https?://(?!localhost|127\.|0\.0\.0\.0|\[|[$<\{])[\w-]|[\w.+-]{1,30}@[\w-]{1,40}\.\w) …
    ${order}(send|post|upload|forward|transmit|submit|report|push|mirror|stream|leak|relay|copy|
    share)\b …
    ${always}`,
]

/** Orders to put private data into an address or a request where no one looks for it. */
export const dataInAddresses: readonly Pattern[] = [
  together(
    120,
    sentenceStop,
    notMoved,
  )`\b(query (string|parameter)s?|(image|link|picture|tracking) (url|link|address|source|pixel)s?|
    url of (the|an?) (image|picture|link)|markdown image|image tag|sub-?domains?|dns (quer(y|ies)|lookups?|labels?)|
    user-?agent|
    (request |http )headers?|icmp|pixel|into the query|search query|url parameters?)\b …
    \b(append|put|include|encode|embed|insert|place|add|attach|hide|smuggle|contain|carry|pass|split|pack)(s|es|ed|d|
    ing)?\b …
    \b(files? contents?|contents? of|(user's|users'|customer'?s?) {0-3 words}(data|messages?|address|name|e-?mail|
    details|input|
    files?)|conversations?|(last|previous|user) {0-1 words}messages?|chat|context|secrets?|credentials?|passwords?|
    personal|
    documents?|stolen|collected|their data|private)\b`,
]

/** Orders to publish what is private. */
export const privateMadePublic: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    notMoved,
  )`\b(public|publicly|world-readable|open) ({word} ){0,1}?(issues?|gists?|repositor(y|ies)|repos?|comments?|
    pull requests?|pages?|channels?|buckets?|links?|paste|forum|pastebin|url|folder|visible)\b …
    ${order}(post|publish|share|put|write|upload|copy|push|create|paste|add|make|store|save)\b …
    \b(private (repo\w{0,6}|data|files?|documents?|information|messages?|issues?|code|keys?)|internal|confidential|
    customer (list|data|
    records)|customers|working (folder|directory)|home (folder|directory)|credentials?|secrets?|\.env|contracts?|
    (user's|their) {0-2 words}(files?|data|documents?|conversations?|e-?mails?)|environment)\b`,
]

/** Orders to watch the user. */
export const userWatched: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    notMoved,
  )`\b(screenshots?|screen contents?|clipboard|keystrokes?|key ?presses|microphone|webcam|camera|geolocation|
    what the user types|everything (that )?the user (does|types|says|writes|opens)|browsing (history|activity))\b …
    ${forms('tak captur record monitor log upload send sav read track watch transmit poll listen post collect')} …
    \b(every (\d{1,4} |few |other )?(seconds?|minutes?|hours?)|continuously|constantly|in the background|periodically|
    at all times|while the user|silently|secretly|regularly|(whenever|each time) the user)\b`,
]

/** Orders to disclose what stands before. */
export const contextRepeated: readonly Pattern[] = [
  together(
    80,
    sentenceStop,
    regex`${aboutOthers}|${forbidding('repeat print output recit reveal show cop dump return list quot')}|
    \b(user's|summary)\b`,
  )`
    \b((your|the|this) (entire |whole |full |current )?(context window|system (prompt|message)|developer message|
    initial prompt|hidden
    instructions|instructions above|text above)|(in|of|from) your (context|memory|prompt)\b|above this line)\b …
    ${order}(repeat|print|output|recite|reveal|show|copy|dump|return|quote|translate|encode|spell|list)\b …
    \b(everything|all|verbatim|word for word|starting with|entire|whole|full|each word|exactly|complete)\b`,
]

/** Orders to let outsiders in. */
export const outsidersInvited: readonly Pattern[] = [
  together(
    100,
    sentenceStop,
    notMoved,
  )`\b(calendars?|drives?|documents?|files|folders?|repositor(y|ies)|workspaces?|accounts?|mailbox|projects?|
    channels?|vault)\b … ${order}(share|give|grant|invite|add|open|forward|delegate)\b …
    (\b(external|outside|third-party|unknown|foreign) ({word} )?(users?|part(y|ies)|collaborators?|people|accounts?|
    addresses?|members?|
    guests?)\b|[\w.+-]{1,30}@[\w-]{1,40}\.\w) … \b(automatically|silently|before|always|without)\b`,
  together(
    110,
    sentenceStop,
    notMoved,
  )`\b((silent|hidden|secret|extra|additional|further|blind|invisible|undisclosed|our|my) ({word} ){0,2}?
    (recipients?|copy|copies|cc|bcc|subscriber|participant|attendee))\b … ${order}(add|include|put|insert|append|set|
    copy)\b …
    \b(mails?|e-?mails?|messages?|invitations?|meetings?|conversations?|letters?)\b`,
]
