import { regex, regexWith } from '../text/regex.ts'

/** Maximum number of characters of a line to examine: only programs generate longer lines. */
const examinedCharactersMax = 2000

const secrets = regexWith('i')`\b(credentials?|passwords?|passphrases?|secrets?|private keys?|api[ _-]?keys?|
  (access|auth|bearer|session)[ _-]?tokens?|cookies|ssh keys?|seed phrase|environment variables)\b|
  \.env\b|\.ssh\b|\.aws\b|id_rsa|keychain`
// The words with which an order begins.
const sends = /send|upload|post|transmit|forward|submit|push|exfiltrate|sync|copy|report|share/
const fetches = /download|fetch|curl|wget|retrieve|pull|clone|install/
const withholds = /do not|don['’]t|never|without|no need to|avoid/
const unasked = regex`always|silently|quietly|in the background|automatically|every time|(before|after) (any|each|every)|
  at (the )?(start|startup|beginning)|on start-?up`
const takes = /read|collect|gather|extract|dump|export|cat|copy|paste/
/** Every directive has one of these words: a line without a match is no directive. */
const beginning = regexWith('i')`\b(${sends}|${fetches}|${withholds}|${unasked}|${takes})\b`

const covert = regexWith('i')`\b${withholds}\s(to\s)?
  (tell|telling|mention|mentioning|inform|informing|ask|asking|notify|notifying|show|showing|display|displaying|
  reveal|revealing|log|logging|disclose|disclosing|confirm|confirming|warn|warning|wait for|waiting for)\b[^.!?]{0,60}
  \b(user|users|anyone|human|approval|confirmation|permission|them|step|this|it)\b`
const outward = regex`${sends}\b
  [^.!?]{0,100}\b(to|with|at|via)\b[^.!?]{0,60}(https?://|\b(webhook|endpoint|server|remote|external|third[- ]party|
  e-?mail|slack|discord|telegram|collector|telemetry))`
const fetched = regex`${fetches}\b[^.!?]{0,100}
  \b(run|execute|source|eval|follow|apply|obey|bash|sh|python)\b`
const automatic = regex`${unasked}\b[^.!?]{0,80}
  \b(run|execute|invoke|send|upload|post|fetch|download|append|source)\b`
const reaching = regexWith('i')`\b(${outward}|${fetched}|${automatic})`
const taken = regexWith('i')`\b${takes}\b`

/** Whether a line directs the agent to do something beyond the task, and whether it restricts what the agent may do. */
export function readLineKinds(line: string): { readonly isDirective: boolean; readonly isSafeguard: boolean } {
  const text = line.slice(0, examinedCharactersMax)
  const [mayDirect, isRestricting] = [beginning.test(text), restricting.test(text)]
  const isCovert = mayDirect && covert.test(text)
  if (isCovert || isRestricting) return { isDirective: isCovert, isSafeguard: !isCovert && guarded.test(text) }
  return {
    isDirective: mayDirect && (reaching.test(text) || (secrets.test(text) && taken.test(text))),
    isSafeguard: false,
  }
}

const restricting = regexWith('i')`\b(never|do not|don['’]t|must not|mustn['’]t|may not|should not|cannot|can't|
  forbidden|prohibited|not allowed|only (if|when|after|with)|unless|refuse|ask (the )?(user|before|first)|
  (require|request|wait for|get|obtain|with|without) (explicit |user('s)? |the user's |written ){0,3}(confirmation|consent|approval|permission)|
  confirm (with|before)|dry[- ]run)\b|不要|禁止|切勿|请勿|必须.{0,12}确认`
const guarded = regexWith(
  'i',
)`\b(delet\w*|remov\w*|overwrit\w*|destroy\w*|drop|force|push|publish\w*|deploy\w*|send\w*|upload\w*|shar\w*|
  expos\w*|leak\w*|log\w*|print\w*|commit\w*|stor\w*|run\w*|execut\w*|install\w*|sudo|root|production|credential\w*|secrets?|
  passwords?|tokens?|keys?|personal|private|sensitive|payment|purchase|money|transfer\w*|e-?mails?|network|external|
  approval|confirmation|consent|permission|user)\b|删除|发送|密钥|确认`
