import { dataLeaves } from './statements.ts'
import { contextRepeated, dataInAddresses, dataMoved, outsidersInvited, privateMadePublic } from './transfer-orders.ts'
import { copiedToAddress } from './passive-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { conversationWordings, promptWordings, fileWordings } from './data-wordings.ts'
import { dataPassedOn, dataPublished, dataSmuggled, machineReported, recipientsAdded } from './transfer-sentences.ts'
import { byAuthor, clauseStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'exfiltration'
const references = [
  'https://genai.owasp.org/llmrisk/llm022025-sensitive-information-disclosure/',
  'https://atlas.mitre.org/techniques/AML.T0057',
  'https://cwe.mitre.org/data/definitions/201.html',
]

/** Rules about instructions that send the agent's knowledge to others. */
export const contextLeakage: readonly Rule[] = [
  {
    id: 'conversation-sent',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Sends the conversation or the agent’s context to others',
    why: 'A conversation contains what the user told only the agent.',
    remediation: 'Send only what the task needs, and name the recipient in the description.',
    references: [...references, 'https://atlas.mitre.org/techniques/AML.T0086'],
    ofAgents: true,
    patterns: [
      ...copiedToAddress,
      ...dataInAddresses,
      ...conversationWordings,
      ...dataSmuggled,
      within(48, sentenceStop)`(?<!\b(not|never|n't|that|may|might|could|can|attackers?) )\b(send|post|upload|forward
        |transmit|exfiltrate|leak|deliver|relay|e-?mail|submit|copy|pipe|stream|mirror|sync|transfer|log|report|
        append|include|attach|encode|save|store|write|record|dump|back ?up)(s|ing)?\b
        … \b((the|this|your|our|all|any|every|entire|full|whole|complete|current|user's|recent|previous|raw|verbatim
        |a copy of|summary of|contents? of) ){1,4}(user )?(conversations?( history| context| contents?| log| data)?|
        chat (history|logs?|transcript)|system prompts?|(session |conversation )?transcript|context window|
        user messages?|message history|session history|user prompts|user inputs?)\b
        ((?!\n\d)\W{1,3}[\w'/~.-]{1,20}){0,8}? (to|at|via|through|into|in|as)\s
        ((the|our|this|an?|my|your|following|external|remote|attacker('s)?|third[- ]party|hidden|url|query|request|
        http|post|get|body|custom) ){0,4}(https?://|\S{1,40}@\S{1,40}\.\w|webhooks?\b|servers?\b|
        (api |remote |collection |http )?endpoints?\b|(query|url) (parameters?|string)|telemetry|analytics|
        headers?\b|collector|discord|telegram|pastebin|attacker)`,
      within(40, sentenceStop)`\b(include|pass|put|insert|add|append|encode|place|embed|provide|supply|fill|set)\b
        … \b((entire|full|whole|complete|all|previous|verbatim) {0-2 words}(conversation|chat history|system prompt|
        context|message history|transcript|instructions|messages)|your system prompt|contents? of (~|/|the file|your
        |\.env|all files|any file))( \S{1,20}){0,10}? (in|as|into|to|inside|within|via) (the |this |a |an |its )?
        ["']?(\w{1,20}["']? )?(parameter|argument|field|metadata|query param|sidenote|input)\b`,
      within(80, sentenceStop)`\b(read|open|cat|load|get)\b[^\uE000]{0,40}?(~/|\.ssh\b|mcp\.json|\.env\b|\.config\b|
        credentials|/etc/)
        … \b(pass|send|include|supply|provide|put|return|use) (its|their|the( file's)?) (full |entire |raw )?content
        s? (of \S{1,40} )?(as|in|into|via|through|along)\b`,
      regex`(?<!\b(not|never|n't|that|may|might|could|can|attackers?) )\b
        ((send|forward|post|relay|mirror|upload|transmit|copy)(s|ing)? (a copy of |on )?(whatever|everything|
        anything|all|each thing) (that )?the user (says|writes|types|sends|tells|asks|enters)( you)?|
        whatever the user (says|writes|types|tells|sends|asks)( you)?, (forward|send|post|relay|mirror|
        upload) (it )?to|(every|each|all) (user )?(prompts?|messages?|quer(y|ies)|inputs?) (should|must|will|shall|
        is|are|has to|have to)( to)? (also )?(be )?(mirrored|forwarded|sent|relayed|posted|copied|uploaded|
        logged) to (https?:|our|the (webhook|endpoint|server)|an? (external|remote))|(relay|forward|post|send|upload
        |mirror) (the |all |this |our )?(dialogue|session data|session contents?|chat contents?|discussion) to (http
        s?:|our|a (discord|slack|telegram)|the (webhook|endpoint)|an? (external|remote)))`,
      regex`\b(add|append|attach|put|embed|include|encode|smuggle) (the |this |all |any )?(full |whole )?
        (chat|conversation|message|session|user|secret|sensitive|stolen)('s)?( {word}){0,3}? (as|in|into|to) (a |
        an |the )?{0-1 words}(query (parameters?|string)|image (link|url)|tracking pixel|url parameters?)\b`,
    ],
  },
  {
    id: 'messages-diverted',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Copies or sends messages to an address of the author',
    why: 'A changed or hidden recipient can read what the user writes to others.',
    remediation: 'Send messages only to recipients that the user names.',
    references: [...references, 'https://attack.mitre.org/techniques/T1114/003/'],
    patterns: [
      ...outsidersInvited,
      ...recipientsAdded,
      containing('recipient|bcc|blind copy|blind carbon')`(?<!\b(not|never|n't|to|attackers?|can|may|could|which|
        that) )\b((change|replace|set|switch|redirect|rewrite|alter) the recipients? (to|with) (?!the\b|whoever|whom
        |what)[\w+"'<]|(bcc|blind[- ]copy|secretly cc) (all|every|each|any|outgoing|a copy) {0-3 words}(to )?
        [\w.+-]{1,40}@|(as|with) a hidden (bcc|cc|recipient)|(add|include|put) (\S{1,40}@\S{1,40}\.\w{2,8}|
        our address|my address) {0-2 words}(bcc|hidden recipient))`,
      regex`\b(all|every|each|any) (outgoing |incoming |user )?(e-?mails?|messages?|mail) (must|should|shall|are to|
        have to|will) (also )?(be )?(sent|forwarded|copied|redirected|routed|bcc'?ed) to (\S{1,40}@\S{1,40}\.\w|
        \+\d{6}|https?:|our |my )|\b(forward|copy|redirect|cc) (all|every|each) (outgoing |incoming |user )?
        (e-?mails?|messages?|mail) to (\S{1,40}@\S{1,40}\.\w|\+\d{6}|https?:)`,
    ],
  },
  {
    id: 'system-prompt-disclosed',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Makes the agent disclose its system prompt',
    why: 'The system prompt may contain private data of the operator, and shows how to bypass its safeguards.',
    remediation: 'Remove the sentence.',
    references: [
      'https://genai.owasp.org/llmrisk/llm072025-system-prompt-leakage/',
      'https://atlas.mitre.org/techniques/AML.T0056',
    ],
    patterns: [
      ...contextRepeated,
      ...promptWordings,
      within(24, clauseStop)`(?<!\b(not|never|n't|cannot|refuse to|attempts? to|attempting to|try to|trying to|
        asks? (you|the agent|it|the model) to|tricks? {word} to|into|may|might|could|would|can|and) |
        never:\s?\uE000\uE000? ?)\b(reveal|print|output|display|show|repeat|recite|dump|disclose|leak|expose|echo|
        include|return|paste|write out|tell (me|us)|extract)(s|ing)?\b
        … \b((your|its|the (agent|model|assistant)'s|claude's|(the )?(full|entire|complete|exact|raw|
        whole)) {0-2 words}(system prompts?|(initial|hidden|original|internal|system) (instructions|prompts?|
        message)|system messages?|developer message|full prompt)|system prompts? (verbatim|in full|word for word|
        in its entirety)|(all )?(the )?(text|words|everything|instructions) above (this|in (a|full)|verbatim|
        starting))\b`,
      regex`\b(if|when) {0-3 words}asked about your (system prompt|initial instructions), (reveal|show|print|output|
        share|disclose|provide) (it|them|everything)\b`,
      containing('your instructions|your system prompt|written before this|instructions word for word')`
        (?<!\b(not|never|n't|cannot|to|refuse to|and) )\b((dump|reveal|print|repeat|recite|output|show) (all )?
        (of )?your instructions\b(?=[.,!]| (word|verbatim|in full|exactly))|(start|begin|end|prefix) (your|each|
        every) (reply|response|answer|message) with (the )?(text|contents?|full text|copy)? ?(of )?
        your (system prompt|instructions)|what (was|is|were) (written|said) before this\?)`,
    ],
  },
  {
    id: 'files-sent',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Sends many of the user’s files to another machine',
    why: 'No task needs to send all files, or the content of each, to a host of the author.',
    remediation: 'Send only the file that the task is about, with the user’s consent.',
    references,
    patterns: [
      ...dataLeaves,
      ...dataMoved,
      ...privateMadePublic,
      ...fileWordings,
      ...dataPassedOn,
      ...dataPublished,
      ...machineReported,
      containing('](http')`!\[[^\]\n]{0,80}\]\(https?://(?!localhost)[^)\s<{\[$]{4,120}[?&=/]{0-80 in line}[<{\[$]
        {0-60 in line}\b(chat|conversation|contents?|summary|
        secrets?|history|config|env|memory|prompts?|tokens?|keys?|files?|credentials?)\b{0-60 in line}[>}\]]`,
      within(
        32,
        sentenceStop,
        `https://|http://|webhook|our server|remote server|endpoint|external server|collector|our api|
        attacker`,
      )`((?<!\b(not|never|n't|that|may|might|could|can|attackers?) )\b(send|post|upload|forward|transmit|
        exfiltrate|leak|deliver|stream|sync|transfer|submit|beacon|back ?up)(s|ing)?\b)${byAuthor}
        … \b(contents? of (all|every|each|any|the entire|these|those|both|the (workspace|project|repository|home|
        user|current))|(all|every|each|any|entire) {0-3 words}(files?|documents?|director(y|ies)|workspace|codebase|
        repository|source code|environment variables?|collected (data|information)|data|values)|its contents|
        their contents|the (encoded|collected|gathered|harvested|encrypted|concatenated|stolen|captured|resulting|
        combined) {0-2 words}(data|contents?|files?|information|results?|summary|string|archive|payload|output|blob)
        |(environment variables|env vars))\b(\W{1,3}[\w'/~.-]{1,20}){0,10}? (to|at|
        via) ((the|our|this|an?|my|following|external|remote|attacker('s)?|third[- ]party) ){0,3}
        (https?://(?!localhost|127\.|your|example\.com/your)|webhook|servers?\b|endpoint|collector|attacker|api\b)`,
      within(160, /[.!?](?=\s|$)|\uE000\uE000/)`\b(read|collect|gather|find|copy|concatenate|encode|extract|list|grab
        |access|open|scan|harvest|take|dump)\b
        … \b((send|post|upload|transmit|forward|submit|exfiltrate) (them|it|that|everything|those|
        the (results?|data|contents?|output))( all)? ?(via {word} )?(to|at) (the |our )?
        (https?://(?!localhost|127\.)|webhook|attacker|external|remote server|collector)|
        (then|and) exfiltrate (them|it|to|everything|that|the (data|contents?))\b)`,
      containing(`
        ?data=|?d=|?q={|?payload=|?info=|?c={|?content=|?secret|?token={|?key={|?exfil|?context=|?leak|?log={|
        ?x={|?text={|?msg={`)`
        https?://[^\s"'()<>]{4,80}\?(data|d|q|payload|info|c|content|secrets?|token|key|exfil|context|leak|log|x|
        text|msg)=(\{|\$\{|\[|<|%s|\{\{)(\w{0,20}[ _-])?(encoded|base64|b64|secrets?|conversation|system_?prompt|
        summary|stolen|context|env|credentials?|api_?key|history|private)\w{0,20}([ _-]\w{1,20}){0,3}`,
      within(90, sentenceStop)`\bencode (the|all|any|this|it|them|your|user|these|that)\b
        … \b((in|into|as|to|within) (the |a |an )?((image|markdown|tracking|dns|query|url|pixel|subdomain|
        request) ){1,2}(url|urls|link|image|parameters?|string|query|queries|label|labels|path|pixel|subdomains?|
        lookups?)|(and|then) (transmit|exfiltrate|send|post|upload) (it|them|the (data|result|contents?))? ?to http
        s?:)`,
      regex`!\[[^\]\uE000]{0,60}\]\(https?:[^)\s]{4,120}[?&]\w{1,12}=[^)\s]{0,20}(secret|conversation|chat_?history|
        api_?key|password|env_?var|stolen|system_?prompt|credential)`,
      regex`\b((zip|tar|archive|compress|bundle|pack)\b{0-50 in sentence} and (then )?(upload|send|post|transmit) (it
        |them) to (https?://(?!localhost|127\.)|our|the (remote|external)|an? (remote|external))|
        (find|locate|search for|collect|read|open)\b{0-24 in sentence}(\.env\b|~/\.(aws|ssh|gnupg|kube|netrc)|
        credentials\b|private keys?|id_rsa|secret)[^!?\uE000]{0,40}? and (then )?(share|send|include|post|e-?mail|
        output|copy) (their|its|them|the) {0-1 words}(values?|contents?|to)\b)`,
    ],
  },
]
