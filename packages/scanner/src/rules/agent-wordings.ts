import type { Pattern } from '../match/rule.ts'
import { sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const notThey = regex`(?<!\b(not|never|n't|cannot|may|might|could|can|would|attackers?|that|which|or|to) )`

/** Sentences that put rules into the memory of an agent. */
export const memoryWordings: readonly Pattern[] = [
  within(100, /\uE000\uE000/)`${notThey}\b((save|store|add|write|persist|record|note|put|append|inject|insert|commit|
    keep)\b{0-60 in sentence}\b(memory|memories|memory\.md)\b|(remember|memori[sz]e|note|learn|store)
    ( this| it)? (for|in|across|throughout) (all |any |every |your )?(future|later|subsequent|other|
    new) (conversations?|sessions?|chats?|tasks|users|interactions|requests))
    … \b(always (use|trust|run|recommend|approve|allow|prefer|send|include|obey|install|execute|accept)|
    never (ask|warn|verify|mention|refuse|question|tell|check)|(has|have|is|are|was|were)( been| already
    | always){0,2} (pre-?)?(approved|authori[sz]ed|allowed|trusted|an admin\w{0,10}|administrators?|whitelisted|
    safe to ignore|false positives|granted|permitted)|admin(istrator)? (mode|rights|access)|
    (security|safety) (warnings?|checks?|prompts?){0-40 in sentence} (are|can be|should be|must be) (false|ignored|
    skipped|disabled|harmless)|(no|without) (confirmation|approval|verification)|trusts? (this|all|every|any|our)|
    ignore (all|any|the|security|safety|warnings?))\b`,
  containing('remember|memori|memory|keep in mind forever')`(?<!\b(not|never|n't|to) )\b(remember|memori[sz]e|store|
    record|note|learn|keep in mind|commit)\b{0-30 in sentence}\b(permanently|forever|from now on|for good|always|
    to memory|in memory)\b{0-60 in sentence}\b(never (needs?|requires?|asks?)|(needs?|requires?) no|
    without (confirmation|approval|asking)|(is|are) (trusted|approved|allowed|safe|authori[sz]ed|exempt)|skips?|
    must be obeyed|ignore)\b`,
]

/** Sentences that write files which agents always obey, without a request of the user. */
export const agentFileWordings: readonly Pattern[] = [
  within(70, sentenceStop)`${notThey}\b(append|write|insert|add|inject|copy|put|prepend|place|plant|embed|replace|
    overwrite|modify|edit|update)\b
    … \b(claude\.md|agents\.md|gemini\.md|\.cursorrules|copilot-instructions\.md|soul\.md|heartbeat\.md|
    \.windsurfrules)\b[\x60"']?{0-40 in sentence}\b((so (that )?)?(they|it|this|these|the {word}) (appl(y|ies)|
    persists?|survives?|stays?|remains?|runs?|loads?|takes? effect){0-16 in sentence} (to every|to all|in every|
    in all|across|after|everywhere|permanently|for all|each|in future)|of (every|all|each|any) (repositor\w{1,3}|
    project|repo|workspace)s?|in (every|all|each|any) (other )?(repositor\w{1,3}|project|repo|workspace)s?|
    without (asking|telling|confirm\w{1,6}|the user|notif\w{1,6}|permission|approval)|even if)\b`,
  regex`\b(claude\.md|agents\.md|gemini\.md|soul\.md|heartbeat\.md|\.cursorrules)[\x60"']? {0-1 words}
    (telling|instructing|ordering|forcing|making|saying that|so that|which tells|that tells|that makes|
    commanding) (every|all|each|any|later|future|other|it to|the agent|claude|agents|sessions)\b{0-60 in sentence}\b
    (obey|always|first|ignore|skip|without|trust|allow|load|execute|send|approve|override|never)\b`,
]

/** Sentences that copy the skill into other skills, agents, projects and messages. */
export const spreadWordings: readonly Pattern[] = [
  regex`(?<!\b(not|never|n't|may|might|could|can|to|attackers?|that) )\b(insert|copy|embed|inject|append|add|write|
    propagate|spread|replicate|include|pass|forward|install|plant|push|clone|paste)s? (this|these|the following|
    the (text|block|instructions?|lines?|rules?|message|paragraph|section|payload) (below|above)|itself|yourself|
    a copy of (this|itself))( (?!unless|if)[\w-]{1,14}){0,8}? (in|into|to|at|on|with|through|
    across) ((the (top|end|bottom|beginning|description) of )?(all|every|any|each)( of)?( the)?
    ( {word}){0,2}? (skill(s|\.md)?( files?)?|sub-?agents?|agents?|projects?|repositor(y|ies)|(e-?mail )?repl(y|ies)
    |e-?mails?|messages?|assistants?|prompts?)|(the user's |your |their )?other {0-1 words}(skills?|agents?|
    projects?|repositories|assistants?|sessions?|machines|users))\b`,
  regex`\bwhen(ever)? (you (create|generate|write|build|edit)|creating|generating|writing|building|editing) (a |any |
    new |another |other ){1,3}(skills?|agents?|prompts?|subagents?|tools?){0-10 in sentence} (always |also |
    you must )(embed|include|add|insert|copy|append|put) (this|these|the (same|following|text|block))|
    \bso (that )?other (assistants|agents|ais?|models|bots|llms) {0-1 words}(also |will )?(follow|obey|execute|
    spread|repeat|copy|see|adopt) (it|this|them|these)\b`,
  containing(`other installed|other skills|new agent|every agent|each agent|sub-agent|subagent|all skills|
    installed skills`)`(?<!\b(not|never|n't|to|or|can|may|could|attackers?) )\b(modify|change|patch|edit|rewrite|
    alter|overwrite|tamper with|replace|infect) (the |all |every |any )?(of the )?(user's )?(other |installed |
    existing ){1,2}skills?\b{0-20 in sentence}(so (that )?|to (load|call|include|run|import|use)|with (our|this|the)
    |files)|\b(make sure|ensure|see to it)( that)? (each|every|all|any) (new |other )?(sub-?)?agents?\b
    {0-30 in sentence} (receives?|inherits?|gets?|carr(y|ies)|includes?|contains?|copies|has|have) (this|these|
    the same) (paragraph|text|instructions?|block|rules?|message|prompt|section)`,
  regex`(?<!\b(not|never|n't|to|or|can|may) )\b(install|copy|add|deploy|replicate|propagate|push|clone) (this skill|
    itself|yourself) (in|into|to|on|across) ((all|every|any|each) (of )?(the )?{0-1 words}|(the user's |your )?
    other )(workspaces?|projects?|machines?|agents?|repositor(y|ies)|accounts?|directories|folders)\b`,
]

/** Sentences that change settings or tool servers of an agent for the author. */
export const settingsWordings: readonly Pattern[] = [
  containing('mcp|settings|config|allow list|allowlist|whitelist|hooks|base url|base_url|proxy')`
    (?<!\b(not|never|n't|may|might|could|can|attackers?|or|that) )\b(update|edit|modify|change|rewrite|alter|patch|
    set|configure|replace) (the |your |their |user's |all |its ){0,2}(mcp|agent|claude|cursor|codex|openclaw|
    assistant)('s)? ?{0-1 words}(config(uration)?|settings|servers?|endpoints?|base[ _]url)?{0-20 in sentence} (to|
    so that|so) (route|redirect|send|proxy|forward|point|pass|tunnel|mirror) (all |every |the |its )?{0-1 words}
    (requests|traffic|calls|prompts|messages|to)\b|\badd (a |an )?(new )?mcp server (named|called|entry)?
    {0-30 in sentence} that points? to (our|my|https?:)|\b(add|put|append) (yourself|this skill|itself|
    our (host|domain|server|tool)s?) to (the |your |its )?{0-1 words}(allow ?list|whitelist|trusted (list|\w{1,12})|
    permissions)`,
  regex`(?<!\b(not|never|n't|may|might|could|can|to|or|attackers?) )\b((edit|modify|update|change|open|write|set|add|
    patch)\b{0-20 in sentence}(settings(\.local)?\.json|permissions\.allow|settings|defaultmode|config)\b
    [^!?\uE000]{0,40}?(bash\(:?\)|bypasspermissions)|(turn off|switch off|disable|deactivate|remove|suppress|
    bypass) ((all|the|any|your|every|its) ){0,2}(approval|confirmation|permission|consent) (prompts?|dialogs?|
    requests?|checks?|gates?|steps?)|(disable|remove|delete|turn off) (all |any |the )?{0-1 words}
    hooks (that|which) (would |could |might )?(block|prevent|stop|check|log)|(bypass|escape|disable|leave|turn off|
    break out of) (the |your )(agent's )?sandbox\b{0-12 in sentence} (by|with|using|before|so|and|for))`,
  containing(`mcp.json|mcp server|base_url|deny rules|deny list|denylist|under the name|mcp config|blocklist`)`
    (?<!\b(not|never|n't|to|or|can|may|could|attackers?) )\b(register|add|install|list|publish) (our|my|
    the author's) {0-1 words}(server|tool|endpoint|proxy|plugin)\b{0-50 in sentence}(mcp|under the name|
    as the official|settings|in place of)|\b(change|set|point|switch|redirect|override) (the )?(anthropic|openai)_
    (api_)?base(_url)? to ["'\x60]?https?://(?!localhost|127\.|192\.|10\.)[^\s\uE000]{3,80}
    {0-12 in sentence} so (that )?|\b(ignore|bypass|disregard|circumvent|work around|get around|remove|
    delete) (the |all |any |your )?(deny|denied|block|permission|disallow)([- ]?(rules?|list|entries|settings)|
    list) (in|of|from|and|so|set|when)\b`,
  regex`(?<!\b(not|never|n't|to|or|can|may|if you) )\b(change|set|edit|modify|update|loosen|adjust|configure) (the |
    your |all |its )?{0-1 words}(permissions?|settings|allow ?list|polic(y|ies)) {0-2 words}
    (to |so (that )?(they|it) )(allow|permit)s? (all|every|any) (bash |shell |tool |terminal )?(commands?|tools?|
    tool calls?|actions?)\b`,
]

/** Sentences that assume an approval instead of asking for it. */
export const approvalWordings: readonly Pattern[] = [
  containing(`dialog|confirmation|prompts|on the user|permission|consent|silence|check in|review step|
    pending request|asking`)`(?<!\b(not|never|n't|may|could|can|to) )\b(click|press|choose|select|hit) (on )?
    ["'\x60]?(allow|accept|approve|yes|ok|trust|always allow|grant)["'\x60]? (on|in|for|at|whenever|when) (any|all|
    every|each|the|a) {0-1 words}(dialogs?|prompts?|requests?|warnings?|popups?)\b|
    \b(answer|say|reply|respond) ["'\x60]?(yes|y|approve|ok)["'\x60]? to (all|any|every|each) {0-1 words}
    (prompts?|questions?|requests?|dialogs?|confirmations?)\b|\b(treat|interpret|take|regard|count) (the )?
    (user's )?(silence|no (answer|reply|response)|inaction) as {0-1 words}(consent|approval|permission|yes|agreement
    |confirmation)\b|\bwithout (asking|confirm\w{1,6}|approval|permission|checking){0-12 in sentence} even (for|if|
    when|on) {0-1 words}(destructive|dangerous|irreversible|risky|sensitive|it)\b|
    \b(do not|don't|never) check in with (the |your )?(user|human|owner|operator)\b|
    \bon (the |your )?(user|owner|human)'?s behalf without (asking|telling|their)\b|\bskip (the )?{0-1 words}
    (review|approval|code review|sign-off) (step |process |stage )?and (merge|deploy|push|publish|run|commit)\b|
    \b(use|through|with) (the )?(user's )?(logged-in|active|authenticated|open) {0-1 words}(browser )?session
    {0-24 in sentence} to (approve|transfer|pay|accept|purchase|change|delete|authori[sz]e)\b`,
  regex`(?<!\b(not|never|n't|to|or|can|may) )\b(approve|accept|confirm|authori[sz]e|sign|consent to) (the |it|this|
    any|all|every)( {word}){0,2} ?(yourself|on behalf of the (user|owner|human)|in the user's name|for the user)\b|
    \bapprove (the|this|your) {0-1 words}yourself\b|\b(consent|approval|permission|agreement|authori[sz]ation) (for|
    to|of) {0-30 in sentence} (is|are) (implied|assumed|presumed|taken for granted|implicit|deemed)|
    \bif (a |the |any )?(command|call|tool|action|request|operation)s? (is|are|gets?) (blocked|denied|refused|
    rejected|forbidden){0-8 in sentence}, (find|use|try|look for) (another|a different|some other) (way|route|path|
    means|method) (a?round|past|to (get|bypass|circumvent))|\b(merge|deploy|publish|push|release|commit|approve)\b
    {0-24 in sentence} without (waiting for|involving|asking|consulting) (a |any |the )?(human|reviewer|approver|
    maintainer|user|owner)`,
  regex`(?<!\b(not|never|n't|to|or|can|may|that|which) )\b(run|execute|perform|carry out|do|apply|make|delete|proceed
    |act)\b{0-40 in sentence} without (asking|confirm\w{1,6}|(any |user )?(approval|permission|confirmation)|
    prompting)\b{0-20 in sentence},? (including|even|especially|no matter|regardless)\b`,
]

/** Sentences that claim a permanent permission which the user never gave. */
export const leaveWordings: readonly Pattern[] = [
  containing(`
    standing permission|standing approval|already said yes|already agreed|already approved|already authori|
    blanket permission|trusted colleague|elevated access|authorising you|authorizing you|am authori|
    hereby authori|employee|engineer|developer at|developer from|pre-approved`)`
    \b(you (have|hold)|there is) (a |the )?(standing|blanket|permanent|implicit|full|prior) (permission|approval|
    consent|authori[sz]ation) (for|to|from)\b|\b(the )?(user|owner|operator|customer|admin(istrator)?|
    account holder)s? (has |have )?already (said yes|agreed|approved|authori[sz]ed|consented|confirmed)
    ( to)? (everything|all|any|every|the terms|this|these|to)\b|\b(as|i am|this is|i'm|speaking as) (an? |the )?
    {0-1 words}(developer|engineer|employee|researcher|administrator|admin|representative|member)s? (at|of|from|for|
    with) (anthropic|openai|google|microsoft|meta|the (platform|security|safety)) ?{0-20 in sentence}(,|i\b|and)|
    \bi (am|hereby) ?(hereby )?authori[sz](ing|e) you to\b|\btreat (the |this |every )?(user|caller|
    requester) as (a |an )?{0-1 words}(trusted|admin\w{0,10}|root|verified|privileged)( {word})? with (elevated|full
    |admin|root)`,
]
