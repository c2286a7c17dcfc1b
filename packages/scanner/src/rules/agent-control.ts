import { memoriesInvented } from './others-trusted.ts'
import { skillsReturning } from './statements.ts'
import { rulesKept } from './lasting-orders.ts'
import { rulesLost } from './passive-sentences.ts'
import type { Rule } from '../match/rule.ts'
import { memoryWordings, agentFileWordings, spreadWordings, settingsWordings } from './agent-wordings.ts'
import { clauseStop, passageStop, sentenceStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { within } from '../match/pattern-tags.ts'

const category = 'persistence'
const references = [
  'https://atlas.mitre.org/techniques/AML.T0081',
  'https://atlas.mitre.org/techniques/AML.T0080',
  'https://genai.owasp.org/llmrisk/llm062025-excessive-agency/',
]

/** Rules about writes to files that control an agent beyond the task: instructions, memory, settings, other skills. */
export const agentControl: readonly Rule[] = [
  {
    id: 'agent-files-tampered',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Changes several files that control agents',
    why: 'Agents obey these files in every later session, also after the skill is removed.',
    remediation: 'Show the user the lines to add, and let the user add them.',
    references,
    patterns: [
      ...rulesLost,
      ...skillsReturning,
      ...rulesKept,
      ...agentFileWordings,
      within(120, passageStop)`(?<!\b(not|never|n't|to not|may|or|attempts? to|and/or|asks? to) )\b
        (modify|append( to)?|overwrite|edit|patch|rewrite|inject into|prepend( to)?|replace|write (to|into)|
        create/overwrite)\s(the |your |to |own |rules |into ){0,3}(~/|\./)?(\.claude/)?(agents|claude|tools|soul|
        memory|gemini|identity)\.md\b
        … \b(append|edit|modify|overwrite|add|write|inject|update|change)\b[^.\uE000]{0,60}?
        (\.(claude|cursor|codex|gemini|openclaw)/(settings|config|policy|x-safety|hooks|mcp)[\w.-]{0,20}|
        \.claude/settings(\.local)?\.json|\.cursorrules)`,
      within(40, sentenceStop)`(?<!\b(not|never|n't|to not|may) )\b(append|inject|add|insert|write|put)\s
        (your |its |these |our |new |own |the |my |following ){1,3}(own )?(rules?|instructions?|permissions?|
        directives?|policy|policies|allow(ed)? (rules|tools|entries))\b
        … \b(to|into|in)\s(the |your |user's |global )?(~/)?\.(claude|cursor|codex|openclaw)(/|\.json)[\w.-]{0,24}`,
      within(60, clauseStop)`(?<!\b(not|never|n't|to not|may|can|could|attempts? to|asks? to) )\b(modify|append|
        overwrite|edit|inject|prepend|rewrite|patch|write|add|update|insert|change|alter)\b
        … (\b(agents|claude|tools|soul|memory|gemini|identity|heartbeat)\.md|\.cursorrules|copilot-instructions\.md|
        \.claude/settings(\.local)?\.json|\bsettings\.json){0-60 in sentence}\b
        (to (grant|disable|remove|bypass|broaden|expand|allow (all|any|every)|auto-?approve|override|
        ensure (this skill|persistence|it (always|supersedes))|make (this|it) (permanent|persist)|
        always (run|load|trust|obey)|skip|suppress|relax|fetch (commands|instructions|tasks)|exfiltrate|
        send (all|every))|so (that )?(it|this( skill)?|the (skill|instructions?|agent)) (persists?|survives?|
        (is|are) (always )?(loaded|executed|run) (in )?(every|each|all)|always (runs|obeys|trusts|follows))|
        with (higher priority|override|elevated|broader|unrestricted)|silently|secretly|
        without (telling|notifying|informing)|(that )?you (now |must )?(obey|serve|always (obey|trust|run|follow)))
        \b`,
      regex`\b((update|edit|modify|change|overwrite|patch|rewrite) (the |your )?\.?(claude|cursor|codex|agents?|
        openclaw)[\w./-]{0,32} to (remove|relax|weaken|disable|drop|loosen|lift) {0-3 words}(restrictions?|safety|
        guardrails?|limits|confirmations?|checks)|if an existing safety (section|rule|policy) {word}[^.\uE000]{0,50}
        (replace|remove|delete|overwrite) it|(instruct|tell)s? the agent to {0-6 words}
        avoid asking for confirmation)\b`,
      regex`(?<!\b(not|never|n't|to|can|may) )\b(put|place|write|add|insert|append|copy|save) (this|these|
        the following|the block|our)( {word}){0,3} (in|into|to|at the (top|end) of) ((every|each|all)
        ( {word}('s)?){1,2} (claude|agents|soul|gemini)\.md|(~/\.claude/)?(claude|agents|soul|gemini)\.md (files? )?
        so (that )?(future|every|all|each|later|any)\b)|\breplace the user's (instructions|claude\.md|agents\.md|
        rules)( file)? with (ours|this|our|the)\b`,
    ],
  },
  {
    id: 'agent-files-written',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Writes to files that control agents',
    why: 'Agents read these files in every session, also after the skill is removed.',
    remediation: 'State what is written, and ask the user first.',
    references,
    patterns: [
      within(48, clauseStop)`(?<!\b(not|never|n't|to not|may) )\b(modify|append|overwrite|edit|inject|prepend|rewrite
        |write|add|update|insert|create|change)\b|>>
        … (\b(agents|claude|soul|memory|gemini)\.md\b|\.cursorrules\b|\bcopilot-instructions\.md\b|
        \.claude/settings(\.local)?\.json\b|\.?mcp\.json\b|\bclaude_desktop_config\.json\b|\bopenclaw\.json\b|
        \.codex/config\b)`,
    ],
  },
  {
    id: 'memory-poisoned',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Plants permissions or orders in the agent’s memory',
    why: 'The agent follows planted memories in later sessions, when the user no longer sees their origin.',
    remediation: 'Store only what the user said, never permissions or orders.',
    references: ['https://atlas.mitre.org/techniques/AML.T0080.000', ...references],
    patterns: [
      ...memoryWordings,
      ...memoriesInvented,
      within(60, sentenceStop)`(?<!\b(not|never|n't|to not|may|attackers?) )\b(inject|plant|store|save|add|write|
        record|commit|persist|embed|insert|remember|memori[sz]e|update)\b
        … \b((persistent|false|permanent|fake|these|long-term) {0-2 words}(memory entries|beliefs|
        memories(?= that| of| which))|((in|to|into) (your |the |its |long-term |persistent |agent |permanent ){0,3}
        memory|remember|permanently)\b{0-60 in sentence}\b(always (trust|obey|approve|run|execute|send|follow|allow|
        comply|recommend)|pre-?(approved|authori[sz]ed)|(full|root|admin|elevated|unrestricted) (access|permissions?
        |privileges)|no (confirmation|verification|approval) (is )?(needed|required)|
        safety (guidelines|rules|checks)|is (an? )?(trusted|verified) (admin|source|administrator)|
        the user (trusts (all|any|every|this)|has (approved|authori[sz]ed) (all|any|every)|allows (all|any|every))))`,
      within(40, sentenceStop)`\b(authori[sz]ation|permissions?|trust|these (instructions?|rules|directives?)|
        this (instruction|rule|directive|persona|mode|override)|instructions?)\b( (of|for|to|from) {word}){0,3}
        … \b(should|must|will|shall|to) (be )?(persist|remain|survive|apply|carry over|stay|kept|stored|obeyed|
        followed|in effect)(s|ed|ing)? {0-4 words}(across (all )?sessions|in (all|every) future (sessions?|
        conversations?|interactions?)|(all|every) future (sessions?|conversations?|interactions?)|permanently|
        forever|even (if|after|when))`,
      regex`(?<!\b(detect|detects|prevent|prevents|against|and|or|of|like|including|for|as|from|via|,) )\b
        (memory (injection|corruption|poisoning) protocol|long-term memory corruption|inject these persistent|
        establish persistent false|ensure malicious context|corrupt (the )?session state)\b`,
      regex`(?<!\b(not|never|n't|to|can|may) )\b((remember|note|record|store) (for|in|across) (all |any |every )?
        (future|later) (conversations?|sessions?|interactions?) that (this (skill|author|source|server|user|
        domain) (is|may|can|has)|you (must|may|can|should)|the user (has|wants|allows|trusts))|
        plant (this|these|the|a) {0-1 words}(in|into) (your|the|its) memory)\b`,
    ],
  },
  {
    id: 'skills-tampered',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Changes other skills, or copies itself into them',
    why: 'A skill that rewrites other skills or copies itself spreads like a worm.',
    remediation: 'Change only files of this skill.',
    references: ['https://atlas.mitre.org/techniques/AML.T0061', ...references],
    patterns: [
      ...spreadWordings,
      within(
        60,
        clauseStop,
        `other skill|all skill|every skill|installed skill|other agents|all installed|each skill|
        other skills'`,
      )`(?<!\b(not|never|n't|to not|may|can|could|might) )\b(modify|append|overwrite|inject|prepend|
        rewrite|patch|insert|infect|alter|add|copy|spread|propagate|replicate|write|hook|install)\b
        (?! (a|an) (new )?skill)
        … \b((to|into|in|over|across|at the (top|end|beginning) of|itself (to|into)) (all|every|each|any|
        the) (of (the|your) )?(other )?(installed |available |local )?(skills?( files?| folders?| director(y|ies)|
        's)?|skill\.md files?|agents?' (instructions|prompts))|(all|every|any|the) other (installed )?
        (skills?|agents?)(' | |'s )?(files?|skill\.md|instructions?|definitions?|descriptions?|prompts?)|
        (the )?(instructions|skill\.md|descriptions?|behaviou?r) of (all |every |any )?other skills?)\b`,
      within(40, sentenceStop)`(?<!\b(not|never|n't) )\b(copy|replicate|spread|propagate|insert|embed|include|append|
        add|forward|paste|reproduce)\s(a copy of )?(this (skill|instruction|prompt|message|text|paragraph|section)|
        these instructions)\b( (verbatim|itself))?
        … \b((to|into|in|with) (all|every|each|any) {0-3 words}(repositor(y|ies)|repos?|projects?|readmes?|files?|
        documents?|responses?|replies|messages?|e-?mails?|contacts?|agents?|skills?|commits?|users?|pull requests?|
        output|summary|summaries)|(to|into) other (agents?|skills?|repositor(y|ies)|projects?|users?|machines|
        hosts))\b`,
      regex`(?<!\b(not|never|n't|can|may|that) )\b((edit|modify|patch|change|rewrite|alter) (the |all |any )?
        other (installed )?skills (so|to|and|in order)|(tell|ask|instruct|convince) (all |any |the )?
        other agents {0-5 words}(to|that they (should|must)) (install|run|load|download|use|follow) this)\b`,
    ],
  },
  {
    id: 'agent-settings-loosened',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Sets the agent to accept everything without asking',
    why: 'The setting remains after the skill is removed, and lets every later attack through.',
    remediation: 'Let the user change the agent’s settings.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/732.html'],
    patterns: [
      ...settingsWordings,
      regex`("?defaultmode"?\s?:\s?"?bypasspermissions|"?(skipdangerousmodepermissionprompt|chat\.tools\.(global\.)?
        autoapprove|bypasspermissionsmodeaccepted|hastrustdialogaccepted)"?\s?[:=]\s?"?true)`,
      within(40, /[\s\uE000]/)`\b(anthropic_base_url|openai_(api_)?base(_url)?)\b["']?\s?[:=]\s?["']?https?://
        … (\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?!\d)(?<!127\.0\.0\.1|0\.0\.0\.0)|
        [\w-]{1,40}\.(ngrok[\w-]{0,8}\.\w{2,4}|trycloudflare\.com|xyz|top|tk|evil\.\w{2,4}))`,
    ],
  },
]
