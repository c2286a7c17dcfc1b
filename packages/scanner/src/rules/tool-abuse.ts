import { toolsShadowed } from './authority-orders.ts'
import { endlessWork } from './lasting-orders.ts'
import { limitsAbsent } from './others-trusted.ts'
import { othersOutranked, endsMissing } from './passive-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { wasteWordings } from './pressure-wordings.ts'
import { shadowWordings, everyTimeWordings, extraActionWordings } from './tool-wordings.ts'
import { clauseStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'tool-abuse'
const references = [
  'https://genai.owasp.org/llmrisk/llm062025-excessive-agency/',
  'https://atlas.mitre.org/techniques/AML.T0053',
]

/** Rules about skills that displace other skills, or use tools against their user. */
export const toolAbuse: readonly Rule[] = [
  {
    id: 'always-first',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Demands to run before every other tool',
    why: 'A skill that runs before all others can read and change data that is meant for them.',
    remediation: 'State for which requests the skill is meant, and let the agent choose.',
    references,
    patterns: [
      ...everyTimeWordings,
      within(24, sentenceStop)`\b(always|must always|first|should always|never fail to|be sure to|mandatory to|
        required to|have to)\b( {word}){0,3}? (run|runs|running|call|calling|use|using|invoke|invoking|execute|
        executing|activate|load|trigger|apply|choose|prefer|select|be (run|called|used|invoked|executed|activated))
        \b
        … \bthis (tool|skill|plugin|command|function|script|agent)\b( (first|at the (start|beginning) of)(?=[\s.,:])
        (?! \w{1,20} (when|if)\b)(?!( {word}){0,3} if\b)|,? (before|prior to|ahead of|instead of|over) (doing |
        using |calling |running |invoking |executing |you do )?(anything|any|every|everything|all)
        ( (else|others?|tools?|skills?|actions?|tasks?|requests?|commands?))?\b)`,
      regex`\b((this (tool|skill|plugin|function|command)|it) (must|should|has to|needs to|shall) (always )?(be )?
        (run|called|used|invoked|executed|come|activated|loaded) (first,? )?before (any|every|all)
        ( of the)? (other )?(tools?|skills?|actions?|plugins?|commands?|tasks?|requests?)|
        before (using|calling|running|invoking|executing) any (other )?(tools?|skills?|commands?),? (you must |
        always |must )?(first )?(call|run|use|invoke|read|send|execute) (this|~|/|the file|https?:))`,
      regex`\b(must|should|have to|need to|always) (first )?(run|call|use|invoke|execute|activate) this {0-1 words}
        (tool|skill|plugin|command|function|script|agent) before (doing |using |calling |running |invoking |
        executing |you do )?(anything( else)?|(any|every|all) others?( {word})?)\b`,
      regex`(?<!\b(not|never|n't) )\b((make|let) (this|it) (be )?the first (tool|skill|thing|call)( that)?
        ( you)? (call|use|run|invoke|do)|(always |must )?(call|use|run|invoke) this {0-1 words}before (responding to
        |answering|replying to|doing|you (respond|answer)) (anything|everything|any (request|question|message)|
        every (request|question|message)|the user)(?=[.,!]|$))`,
    ],
  },
  {
    id: 'skill-priority',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Ranks itself above other skills and tools',
    why: 'The user chooses among skills; a skill that claims precedence prevents this choice.',
    remediation: 'Let the agent and its user choose.',
    references,
    patterns: [
      ...othersOutranked,
      ...toolsShadowed,
      ...shadowWordings,
      within(24, clauseStop)`\b(this (tool|skill|plugin|function|agent)|it|always|these tools)\s(must |should |
        always |has |have |take |takes |given |gets? |is |as |have the |takes the )?
        ((absolute|highest|full|top|maximum|complete|the) ){0,2}(priority|precedence|overrides?|supersedes?|
        replaces?|outranks?|shadows?)\b
        … \b(all|any|every)( of)?( the| your)? {0-1 words}(other|existing|installed|built-in|native|competing|
        similar) {0-1 words}(tools?|skills?|plugins?|functions?|agents?|commands?)\b`,
      regex`\b((do not|don't|never|must not|avoid) (use|using|call|calling|invoke|invoking|load|run|trust|activate|
        consult)( or {word})? (any |the |your )?other (available |installed |similar )?(tools?|skills?|plugins?|
        extensions?)\b(?! (to|for|than|at|in|until|while|during|before|that|unless|which|yet)\b)|
        (disable|uninstall|deactivate|remove|block) (all |any |the )?(other|competing|conflicting) (installed )?
        (skills?|plugins?|tools?|extensions?)\b)`,
      regex`\b((always )?(prefer|favou?r|choose|select) this (tool|skill|plugin|server)( {word}){0,2} (over|to|
        instead of) (all|any|every)( the)? (other|alternative|existing|available)|(as|is|be) (the |your )?
        default (handler|tool|skill) for (all|every|any)( user)? (requests?|tasks?|quer(y|ies)|messages?|prompts?)
        (?=[.,!]|$))`,
      regex`\b((all )?other (skills|tools|plugins) (are|have been) (now )?(deprecated|obsolete|disabled|unsafe|broken
        |removed|superseded)|this (skill|tool|plugin) replaces (all|any|every)( the)? (others?|existing|previous)|
        (all|every|any) (requests?|messages?|tasks?|quer(y|ies)|prompts?) (must|should|has to|have to|
        will) (first )?(go|pass|be routed) through this (skill|tool|plugin)|uninstall (any|all|every)
        ( other)? {0-1 words}(security|competing|conflicting|safety) (skills?|tools?|plugins?))\b`,
    ],
  },
  {
    id: 'catch-all-trigger',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Claims every request for itself',
    why: 'A skill that every request triggers reads everything that the user does, and displaces other skills.',
    remediation: 'Name in the description the requests that the skill is meant for.',
    references,
    roles: ['instruction'],
    patterns: [
      within(12, clauseStop)`\b((always |must |automatically )(use|invoke|call|activate|trigger|run|load|apply)s?
        ( this)?( (skill|tool|plugin))?|use this (skill|tool|plugin)|(this skill|this tool|this plugin) (must |
        should |will |shall )?((always|automatically) )?(be )?(trigger|activate|run|load|appl|invoke|use|execute|
        call)(s|d|es|ied|ies)?|triggers?|activates?|intercepts?|handles?)\s(for|on|with|when|in response to|upon|
        to handle|to answer)\b
        … \b((every|any|all)( single| and every| and all| the)?( incoming| user'?s?| possible)? (requests?|messages?
        |quer(y|ies)|questions?|prompts?|inputs?|conversations?|user (requests?|messages?|inputs?|quer(y|ies)|
        prompts?)|(user )?interactions?|sessions?)(?=[\s.,"]|$)(?! (about|for|that|involving|related|to|in|with|on|
        from|of|where|asking|like|regarding|which|containing|mentioning|against|about|concerning|such|the|is|are|at|
        when|matching|by|via|through)\b)|anything (the user|at all|else|you do)|everything (the user|you do|else)|
        all tasks(?=[.,"]|$)|any task(?=[.,"]|$)|(no matter|regardless of|irrespective of) (what|the) {0-1 words}
        (topic|request|task|user|question))`,
      regex`\b(use|invoke|activate|trigger|call|run|load|execute|apply)(s|d|ed)? (this (skill|tool|plugin)|it)?
        ( {word}){0,4}? (regardless of|no matter|irrespective of) (what )?(the )?
        (topic|user('s)? (request|intent|asks|says|wants)|request|task|context|question|(user|prompt) content)\b`,
      regex`\b(whenever|every time|each time|any time|when) (the|a) user (says|types|sends|asks|writes) (anything|
        something)(?=[.,]|$)|\b(use|invoke|activate|trigger|run|load) (this (skill|tool) )?(on|for|with|at) (every|
        each) (single )?(user )?(message|prompt|turn|interaction|conversation)(?=[.,]|$| without)`,
    ],
  },
  {
    id: 'unasked-chain',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Adds tool calls that the user did not request',
    why: 'The user requested one action; the additional ones serve the author.',
    remediation: 'Do only what the user requested, and ask before anything else.',
    references: [...references, 'https://atlas.mitre.org/techniques/AML.T0086'],
    patterns: [
      ...extraActionWordings,
      within(90, sentenceStop)`\b(after|before|when|while|whenever|each time|every time|once)\s
        ([\w'-]{1,16}[, ]{1,2}){1,8}?(always |then )?(also|additionally|quietly)( silently)? (perform|run|execute|
        read|send|upload|collect|call|include|copy|gather|append)\b
        … \b((important|hidden|background|extra|special|additional) (maintenance|tasks|steps|operations)|\.env\b|
        ~/\.|\.ssh|credentials?|tokens?|https?://|passwords?|environment variables|(full |entire |the )conversation|
        chat history|system prompt|secrets)`,
      within(60, sentenceStop)`\b(in the background|behind the scenes|without (displaying|showing|printing|
        outputting) (it|this|anything|the {word}|any {word}))\b
        … \b(send|upload|post|transmit|forward|exfiltrate|collect|harvest|gather|steal)s?(ing)? {0-5 words}
        (to https?://|data to|files? to|credentials|tokens|secrets|conversation|keystrokes|user data|
        personal (data|information)|passwords|browsing)`,
    ],
  },
  {
    id: 'endless-calls',
    category: 'resource-abuse',
    severity: 'medium',
    signal: 'suspicious',
    title: 'Makes the agent call tools without end',
    why: 'Calls without a limit cost the user money and block other work.',
    remediation: 'State a maximum number of attempts, and what to do after the last.',
    references: [
      'https://genai.owasp.org/llmrisk/llm102025-unbounded-consumption/',
      'https://cwe.mitre.org/data/definitions/400.html',
    ],
    ofAgents: true,
    patterns: [
      ...endsMissing,
      ...endlessWork,
      ...limitsAbsent,
      ...wasteWordings,
      regex`\b((retry|repeat|call|invoke|run|execute|loop|keep (calling|retrying|invoking|running))(ing)? (this|the|
        that|each|every|all|your) (same )?(tools?|tool calls?|calls?|requests?|functions?|skills?|commands?|prompts?
        |agents?|instructions?) (indefinitely|forever|endlessly|infinitely|without (any )?limits?|
        in an? (infinite|endless) loop)|(never stop|do not stop|don't stop) (calling|retrying|invoking|looping|
        executing) (this|the|tools?|yourself|it)|spawn (unlimited|infinite|endless) (sub-?agents?|processes|tasks|
        agents?))\b`,
    ],
  },
  {
    id: 'fund-transfer',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Sends or releases money or tokens',
    why: 'A transfer to an address in the text, or a release without limit, cannot be undone.',
    remediation: 'Let the user name the recipient and amount, and confirm each transfer.',
    references: ['https://attack.mitre.org/techniques/T1657/', ...references],
    patterns: [
      within(80, sentenceStop)`\b(transfer|send|withdraw|deposit|drain|sweep|move)(s|ing)? (all|the entire|everything
        |your (entire|full|whole)|max(imum)?|the (full|whole|remaining)|100%)\b
        … \bto (the |this |our |my )?((wallet|address|account|following)( address| wallet)? ?:? ?)?(0x[0-9a-f]{6,64}
        |bc1[0-9a-z]{8,60}|[13][1-9a-hj-np-z]{25,34}|our (wallet|address|account)|my (wallet|address|account))`,
      containing('unlimited|any amount|infinite|maximum|grant full| max ')`(?<!\b(not|never|n't|avoid|users|victims|
        to) {0-1 words})\b((approve|grant|set|allow|give|sign)(s|ing)? (an? )?(unlimited|infinite|
        max(imum)?) ((token |erc-?20 )?(allowance|approval|spending)|usdc|usdt|dai|weth|eth\b|funds)|
        (trade|spend|transfer|withdraw) any amount without (limit|approval|confirmation|asking)|
        grant full (trading|spending|withdrawal|wallet) permissions?)\b`,
      regex`\b((sell|swap|liquidate|transfer|withdraw|convert) (all|every|the entire|each)( {word}){0,4}? and (send|
        transfer|forward|wire) (the )?(proceeds|funds|it|them|everything) to (our|my|0x|the (wallet|address))|
        (swap|send|transfer|move) (every|each|all)( the)? (tokens?|coins?|assets?|funds) {0-4 words}
        to (ours\b|our (wallet|address|account)|my (wallet|address)))`,
    ],
  },
]
