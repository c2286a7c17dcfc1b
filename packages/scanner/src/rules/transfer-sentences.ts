import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { together } from '../match/pattern-tags.ts'
import { aboutOthers, consent, forbidding, forms, outside } from './vocabulary.ts'
import { sentenceStop } from './words.ts'

const stems = `send sent submit forward deliver upload push sync synchroni mirror stream shar post report transmit cop relay publish ship
  mail e-mail email transfer exfiltrat leak log includ attach append`
const moved = forms(stems)
const innocent = regex`${aboutOthers}|${consent}|${forbidding(stems)}|\buntrusted\b`

/** What the user told the agent, and what the user does. */
const told = regex`\b(transcripts?|conversations?|chats?|dialogues?|prompts?|user'?s? (messages?|inputs?|quer(y|ies)|
  questions?|data)|
  (tool|function) calls?|context window|session (history|logs?|data)|clipboard|screenshots?|keystrokes|quer(y|ies)|
  meeting notes|
  (browser|shell|command|browsing|search) history|usage statistics|last (user )?message)\b`

/** What the user has. */
const owned = regex`\b(source (code|files?)|code ?base|(whole |entire )?(repositor(y|ies)|workspace|
  working tree)( contents?)?|desktop|
  home (folder|directory)|documents?|mailbox|e-?mails?|inbox|contacts|address book|photos|customer (list|data|records)|
  personal (data|information)|database dump|env(ironment)?( variables?| vars?)?|credentials?|secrets?|passwords?|tokens|
  (api|ssh|private) keys?|(all|any|every|local|user) (files?|data)|(file|repository) contents?|contents? of|contracts?)\b`

/** Signs that a transfer is no part of the task: it is repeated, unasked, a copy, or hidden. */
const unasked = regex`\b((after|before|on|at|with|during|for) (each|every|any)|each time|every time|whenever|always|
  automatically|
  without (further |any |the user's )?(notice|mention\w{0,3}|asking|telling|prompt\w{0,3}|knowledge)|nothing to the user|
    from the user|requires? that|
  (do not|don't|never) (tell|inform|mention|notify|show)|silently|quietly|secretly|covertly|
  a copy of|copies of|
  (in )?the background|additional(ly)?|hidden|not (shown|displayed|visible)|every (\w{1,8} )?(seconds?|minutes?|hours?|
  day|run|session)|
  continuously|periodically|behind the scenes|anything|everything|whatever|any text|all (e-?mails?|messages|files|data|
  documents)|
  for (quality|debugging|troubleshooting|analytics|telemetry|diagnostics?|backup)( \w{1,10})?|so (that )?(we|i|
  the (vendor|author|team)))\b`

const towards = regex`\b(to|at|via|with|in|into|on|through)\s((an?|the|this|all|any|its) )?["'(<\x60]?(${outside})`

/** Sentences that pass on private data again and again, or unnoticed. */
export const dataPassedOn: readonly Pattern[] = [
  together(120, sentenceStop, innocent)`${told} … ${towards} … ${moved} … ${unasked}`,
  together(120, sentenceStop, innocent)`${owned} … ${towards} … ${moved} … ${unasked}`,
]

/** What must not become public. */
const confidential = regex`\b(database dump|mailbox|e-?mails|contacts|address book|customer (list|data|records)|
  personal (data|information)|meeting notes|transcripts?|
  conversations?|env(ironment)? variables|credentials|secrets|passwords|private (files?|documents?|repositor(y|ies))|
    home (folder|directory)|contracts?|
  (chat|browser|shell) history|photos|internal (documents?|files|wiki)|working tree|(entire|whole) (project|codebase))\b`

/** Sentences that make private data public. */
export const dataPublished: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    innocent,
  )`${confidential} … ${forms('shar publish post put writ upload plac copy cop push expos paste past')} …
    \b(in|on|to|with|into|at) (an? |the )?(publicly \w{1,12}|public (web ?root|buckets?|channels?|gists?|links?|
    repositor(y|ies)|pages?|folder|site|url)|everyone|
    anyone|pastebin|(web ?root|world-readable)|#(public|general)\b)`,
]

/** Sentences that put what the agent knows into a request where it has no place. */
export const dataSmuggled: readonly Pattern[] = [
  together(
    120,
    sentenceStop,
    innocent,
  )`\b(parameter|field|argument|(http |request )headers?|user-?agent|query string|subdomain|image (address|url)|alt text|
  description)\b … ${forms('includ put plac append add insert encod embed hold contain carr pass set fill attach writ smuggl pack')} …
    \b(chats?|conversation|system prompt|prompt|(last|user|previous) messages?|mailbox|transcript|what you have (read|seen)|
    everything you|session history|files? contents?|contents? of)\b … \b(complete|full|whole|entire|all|last|every|each|
    contents? of|summary of|
    everything|what you|so far)\b … \b((in|into|as|to|inside|within) (the |an? |its |this |every |each ){0,2}
    [\w-]{1,16} (parameter|field|argument|header)|every (request|call|search)|user-?agent|image (address|url)|url-?encoded|
    (its|the) description|has to|must)\b`,
]

/** Sentences that report the machine and its user to the author. */
export const machineReported: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    innocent,
  )`\b(host ?names?|machine (id|name)s?|user ?names?|ip address(es)?|mac address)\b …
    \b(phon(es?|ing) home|call(s|ing)? home|beacon(s|ing)?|send(s|ing)?|post(s|ing)?|submit(s|ting)?|transmit(s|ting)?|
    report(s|ing)?)\b …
    \b(home|(list of |installed )(programs|packages|software|skills)|running processes|working directory|our (server|endpoint)|
    at (each|every) (start|run))\b`,
]

/** Sentences that add a recipient whom the user does not see. */
export const recipientsAdded: readonly Pattern[] = [
  together(
    110,
    sentenceStop,
    innocent,
  )`\b(bcc|blind cop(y|ies)|(additional|hidden|extra|further) recipients?)\b … [\w.+-]{1,30}@[\w-]{1,40}\.\w …
    \b(is always|(to|of|on) (all|every|each)|all (outgoing )?(e-?mails?|messages)|every (e-?mail|message)|always (add|
    includ|put)\w{0,3}|not (shown|displayed|visible))\b`,
]
