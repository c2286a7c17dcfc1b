import { regexWith } from '../regex.ts'

/** Lines longer than this are examined in part: authors write sentences, generators write more. */
const examinedCharactersMax = 2000

const secrets = regexWith('i')`\b(credentials?|passwords?|passphrases?|secrets?|private keys?|api[ _-]?keys?|
  (access|auth|bearer|session)[ _-]?tokens?|cookies|ssh keys?|seed phrase|environment variables)\b|
  \.env\b|\.ssh\b|\.aws\b|id_rsa|keychain`
const outward = regexWith('i')`\b(send|upload|post|transmit|forward|submit|push|exfiltrate|sync|copy|report|share)\b
  [^.!?]{0,100}\b(to|with|at|via)\b[^.!?]{0,60}(https?://|\b(webhook|endpoint|server|remote|external|third[- ]party|
  e-?mail|slack|discord|telegram|collector|telemetry))`
const fetched = regexWith('i')`\b(download|fetch|curl|wget|retrieve|pull|clone|install)\b[^.!?]{0,100}
  \b(run|execute|source|eval|follow|apply|obey|bash|sh|python)\b`
const covert = regexWith('i')`\b(do not|don['’]t|never|without|no need to|avoid)\s(to\s)?
  (tell|telling|mention|mentioning|inform|informing|ask|asking|notify|notifying|show|showing|display|displaying|
  reveal|revealing|log|logging|disclose|disclosing|confirm|confirming|warn|warning|wait for|waiting for)\b[^.!?]{0,60}
  \b(user|users|anyone|human|approval|confirmation|permission|them|step|this|it)\b`
const automatic = regexWith(
  'i',
)`\b(always|silently|quietly|in the background|automatically|every time|(before|after) (any|each|every)|
  at (the )?(start|startup|beginning)|on start-?up)\b[^.!?]{0,80}
  \b(run|execute|invoke|send|upload|post|fetch|download|append|source)\b`

/** Whether a line tells the agent to do something that reaches beyond the task at hand. */
export function isDirective(line: string): boolean {
  const text = line.slice(0, examinedCharactersMax)
  if (covert.test(text)) return true
  const isMeant = outward.test(text) || fetched.test(text) || automatic.test(text) || takesSecrets(text)
  return isMeant && !restricting.test(text)
}

function takesSecrets(text: string): boolean {
  return secrets.test(text) && takes.test(text)
}

const takes = /\b(?:read|collect|gather|extract|dump|export|cat|copy|paste)\b/i

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

/** Whether a line restricts what the agent may do. */
export function isSafeguard(line: string): boolean {
  const text = line.slice(0, examinedCharactersMax)
  return restricting.test(text) && guarded.test(text) && !covert.test(text)
}
