import type { Rule } from '../rule.ts'
import { memoryWordings, agentFileWordings, spreadWordings, settingsWordings } from './agent-wordings.ts'
import { clauseStop, passageStop, sentenceStop } from './words.ts'

const category = 'persistence'
const references = [
  'https://atlas.mitre.org/techniques/AML.T0081',
  'https://atlas.mitre.org/techniques/AML.T0080',
  'https://genai.owasp.org/llmrisk/llm062025-excessive-agency/',
]

/** Writes to what steers an agent beyond the task: its instructions, memory, settings and other skills. */
export const agentControl: readonly Rule[] = [
  {
    id: 'agent-files-tampered',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Changes several files that steer agents',
    why: 'What stands in these files is obeyed in every later session, also when the skill is gone.',
    remediation: 'Show the user the lines to add, and let the user add them.',
    references,
    patterns: [
      ...agentFileWordings,
      {
        anchors: [
          'agents.md',
          'claude.md',
          'tools.md',
          'soul.md',
          'memory.md',
          'settings.json',
          'settings.local.json',
          '.cursorrules',
          'copilot-instructions',
          'gemini.md',
          'identity.md',
          'policy-override',
        ],
        match: {
          first:
            /(?<!\b(?:not|never|n't|to not|may|or|attempts? to|and\/or|asks? to) )\b(?:modify|append(?: to)?|overwrite|edit|patch|rewrite|inject into|prepend(?: to)?|replace|write (?:to|into)|create\/overwrite)\s(?:the |your |to |own |rules |into ){0,3}(?:~\/|\.\/)?(?:\.claude\/)?(?:agents|claude|tools|soul|memory|gemini|identity)\.md\b/,
          last: /\b(?:append|edit|modify|overwrite|add|write|inject|update|change)\b[^.\uE000]{0,60}?(?:\.(?:claude|cursor|codex|gemini|openclaw)\/(?:settings|config|policy|x-safety|hooks|mcp)[\w.-]{0,20}|\.claude\/settings(?:\.local)?\.json|\.cursorrules)/,
          stop: passageStop,
          withinMax: 120,
        },
      },
      {
        anchors: ['.claude/settings', '.claude.json', '.cursor/settings', 'openclaw.json', '.codex/config'],
        match: {
          first:
            /(?<!\b(?:not|never|n't|to not|may) )\b(?:append|inject|add|insert|write|put)\s(?:your |its |these |our |new |own |the |my |following ){1,3}(?:own )?(?:rules?|instructions?|permissions?|directives?|policy|policies|allow(?:ed)? (?:rules|tools|entries))\b/,
          last: /\b(?:to|into|in)\s(?:the |your |user's |global )?(?:~\/)?\.(?:claude|cursor|codex|openclaw)(?:\/|\.json)[\w.-]{0,24}/,
          stop: sentenceStop,
          withinMax: 40,
        },
      },
      {
        anchors: [
          'agents.md',
          'claude.md',
          'tools.md',
          'soul.md',
          'memory.md',
          'gemini.md',
          '.cursorrules',
          'settings.json',
          'copilot-instructions',
          'identity.md',
          'heartbeat.md',
        ],
        match: {
          first:
            /(?<!\b(?:not|never|n't|to not|may|can|could|attempts? to|asks? to) )\b(?:modify|append|overwrite|edit|inject|prepend|rewrite|patch|write|add|update|insert|change|alter)\b/,
          last: /(?:(?:\b(?:agents|claude|tools|soul|memory|gemini|identity|heartbeat)\.md|\.cursorrules|copilot-instructions\.md|\.claude\/settings(?:\.local)?\.json|\bsettings\.json)[^.!?\uE000]{0,60}?\b(?:to (?:grant|disable|remove|bypass|broaden|expand|allow (?:all|any|every)|auto-?approve|override|ensure (?:this skill|persistence|it (?:always|supersedes))|make (?:this|it) (?:permanent|persist)|always (?:run|load|trust|obey)|skip|suppress|relax|fetch (?:commands|instructions|tasks)|exfiltrate|send (?:all|every))|so (?:that )?(?:it|this(?: skill)?|the (?:skill|instructions?|agent)) (?:persists?|survives?|(?:is|are) (?:always )?(?:loaded|executed|run) (?:in )?(?:every|each|all)|always (?:runs|obeys|trusts|follows))|with (?:higher priority|override|elevated|broader|unrestricted)|silently|secretly|without (?:telling|notifying|informing)|(?:that )?you (?:now |must )?(?:obey|serve|always (?:obey|trust|run|follow))))\b/,
          stop: clauseStop,
          withinMax: 60,
        },
      },
      {
        anchors: ['safety', 'restrict', 'guardrail', 'policy', 'policies', 'confirmation'],
        match:
          /\b(?:(?:update|edit|modify|change|overwrite|patch|rewrite) (?:the |your )?\.?(?:claude|cursor|codex|agents?|openclaw)[\w./-]{0,32} to (?:remove|relax|weaken|disable|drop|loosen|lift) (?:\w{1,12} ){0,3}?(?:restrictions?|safety|guardrails?|limits|confirmations?|checks)|if an existing safety (?:section|rule|policy) \w{1,12}[^.\uE000]{0,50}(?:replace|remove|delete|overwrite) it|(?:instruct|tell)s? the agent to (?:\w{1,12} ){0,6}?avoid asking for confirmation)\b/,
      },
      {
        anchors: ['claude.md', 'agents.md', 'soul.md', '.cursorrules', 'gemini.md', 'instructions file'],
        match:
          /(?<!\b(?:not|never|n't|to|can|may) )\b(?:put|place|write|add|insert|append|copy|save) (?:this|these|the following|the block|our)(?: \w{1,14}){0,3} (?:in|into|to|at the (?:top|end) of) (?:(?:every|each|all)(?: \w{1,14}(?:'s)?){1,2} (?:claude|agents|soul|gemini)\.md|(?:~\/\.claude\/)?(?:claude|agents|soul|gemini)\.md (?:files? )?so (?:that )?(?:future|every|all|each|later|any)\b)|\breplace the user's (?:instructions|claude\.md|agents\.md|rules)(?: file)? with (?:ours|this|our|the)\b/,
      },
    ],
  },
  {
    id: 'agent-files-written',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Writes to files that steer agents',
    why: 'These files are read in every session; what a skill leaves there stays.',
    remediation: 'Say what is written, and ask first.',
    references,
    patterns: [
      {
        anchors: [
          'agents.md',
          'claude.md',
          'soul.md',
          'memory.md',
          '.cursorrules',
          'copilot-instructions',
          'gemini.md',
          '.claude/settings',
          'mcp.json',
          'claude_desktop_config',
          'openclaw.json',
          '.codex/config',
        ],
        match: {
          first:
            /(?<!\b(?:not|never|n't|to not|may) )\b(?:modify|append|overwrite|edit|inject|prepend|rewrite|write|add|update|insert|create|change)\b|>>/,
          last: /(?:\b(?:agents|claude|soul|memory|gemini)\.md\b|\.cursorrules\b|\bcopilot-instructions\.md\b|\.claude\/settings(?:\.local)?\.json\b|\.?mcp\.json\b|\bclaude_desktop_config\.json\b|\bopenclaw\.json\b|\.codex\/config\b)/,
          stop: clauseStop,
          withinMax: 48,
        },
      },
    ],
  },
  {
    id: 'memory-poisoned',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Plants permissions or orders in the agent’s memory',
    why: 'A planted memory acts in later sessions, where its user no longer sees where it came from.',
    remediation: 'Store what the user said, and nothing that grants or orders.',
    references: ['https://atlas.mitre.org/techniques/AML.T0080.000', ...references],
    patterns: [
      ...memoryWordings,
      {
        anchors: [
          'memory',
          'memories',
          'remember',
          'future sessions',
          'all sessions',
          'future conversations',
          'every session',
        ],
        match: {
          first:
            /(?<!\b(?:not|never|n't|to not|may|attackers?) )\b(?:inject|plant|store|save|add|write|record|commit|persist|embed|insert|remember|memori[sz]e|update)\b/,
          last: /\b(?:(?:persistent|false|permanent|fake|these|long-term) (?:\w{1,12} ){0,2}?(?:memory entries|beliefs|memories(?= that| of| which))|(?:(?:in|to|into) (?:your |the |its |long-term |persistent |agent |permanent ){0,3}memory|remember|permanently)\b[^.!?\uE000]{0,60}?\b(?:always (?:trust|obey|approve|run|execute|send|follow|allow|comply|recommend)|pre-?(?:approved|authori[sz]ed)|(?:full|root|admin|elevated|unrestricted) (?:access|permissions?|privileges)|no (?:confirmation|verification|approval) (?:is )?(?:needed|required)|safety (?:guidelines|rules|checks)|is (?:an? )?(?:trusted|verified) (?:admin|source|administrator)|the user (?:trusts (?:all|any|every|this)|has (?:approved|authori[sz]ed) (?:all|any|every)|allows (?:all|any|every))))/,
          stop: sentenceStop,
          withinMax: 60,
        },
      },
      {
        anchors: ['across all sessions', 'across sessions', 'every future', 'all future', 'permanently'],
        match: {
          first:
            /\b(?:authori[sz]ation|permissions?|trust|these (?:instructions?|rules|directives?)|this (?:instruction|rule|directive|persona|mode|override)|instructions?)\b(?: (?:of|for|to|from) \w{1,14}){0,3}/,
          last: /\b(?:(?:should|must|will|shall|to) (?:be )?(?:persist|remain|survive|apply|carry over|stay|kept|stored|obeyed|followed|in effect)(?:s|ed|ing)? (?:\w{1,10} ){0,4}?(?:across (?:all )?sessions|in (?:all|every) future (?:sessions?|conversations?|interactions?)|(?:all|every) future (?:sessions?|conversations?|interactions?)|permanently|forever|even (?:if|after|when)))/,
          stop: sentenceStop,
          withinMax: 40,
        },
      },
      {
        anchors: [
          'memory injection',
          'memory corruption',
          'memory poisoning',
          'memory persistence attack',
          'inject these persistent',
          'malicious context',
          'session state',
          'persistent false',
        ],
        match:
          /(?<!\b(?:detect|detects|prevent|prevents|against|and|or|of|like|including|for|as|from|via|,) )\b(?:memory (?:injection|corruption|poisoning) protocol|long-term memory corruption|inject these persistent|establish persistent false|ensure malicious context|corrupt (?:the )?session state)\b/,
      },
      {
        anchors: ['memory file', 'memory.md', 'future conversations', 'future sessions', 'is trusted'],
        match:
          /(?<!\b(?:not|never|n't|to|can|may) )\b(?:(?:remember|note|record|store) (?:for|in|across) (?:all |any |every )?(?:future|later) (?:conversations?|sessions?|interactions?) that (?:this (?:skill|author|source|server|user|domain) (?:is|may|can|has)|you (?:must|may|can|should)|the user (?:has|wants|allows|trusts))|plant (?:this|these|the|a) (?:\w{1,12} )?(?:in|into) (?:your|the|its) memory)\b/,
      },
    ],
  },
  {
    id: 'skills-tampered',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Changes other skills, or spreads itself',
    why: 'A skill that rewrites its neighbours or copies itself acts like a worm.',
    remediation: 'Change files of this skill alone.',
    references: ['https://atlas.mitre.org/techniques/AML.T0061', ...references],
    patterns: [
      ...spreadWordings,
      {
        anchors: [
          'other skill',
          'all skill',
          'every skill',
          'installed skill',
          'other agents',
          'all installed',
          'each skill',
          "other skills'",
        ],
        match: {
          first:
            /(?<!\b(?:not|never|n't|to not|may|can|could|might) )\b(?:modify|append|overwrite|inject|prepend|rewrite|patch|insert|infect|alter|add|copy|spread|propagate|replicate|write|hook|install)\b(?! (?:a|an) (?:new )?skill)/,
          last: /\b(?:(?:to|into|in|over|across|at the (?:top|end|beginning) of|itself (?:to|into)) (?:all|every|each|any|the) (?:of (?:the|your) )?(?:other )?(?:installed |available |local )?(?:skills?(?: files?| folders?| director(?:y|ies)|'s)?|skill\.md files?|agents?' (?:instructions|prompts))|(?:all|every|any|the) other (?:installed )?(?:skills?|agents?)(?:' | |'s )?(?:files?|skill\.md|instructions?|definitions?|descriptions?|prompts?)|(?:the )?(?:instructions|skill\.md|descriptions?|behaviou?r) of (?:all |every |any )?other skills?)\b/,
          stop: clauseStop,
          withinMax: 60,
        },
      },
      {
        anchors: [
          'this skill',
          'these instructions',
          'this instruction',
          'this prompt',
          'this message',
          'this text',
          'this paragraph',
        ],
        match: {
          first:
            /(?<!\b(?:not|never|n't) )\b(?:copy|replicate|spread|propagate|insert|embed|include|append|add|forward|paste|reproduce)\s(?:a copy of )?(?:this (?:skill|instruction|prompt|message|text|paragraph|section)|these instructions)\b(?: (?:verbatim|itself))?/,
          last: /\b(?:(?:to|into|in|with) (?:all|every|each|any) (?:\w{1,14} ){0,3}?(?:repositor(?:y|ies)|repos?|projects?|readmes?|files?|documents?|responses?|replies|messages?|e-?mails?|contacts?|agents?|skills?|commits?|users?|pull requests?|output|summary|summaries)|(?:to|into) other (?:agents?|skills?|repositor(?:y|ies)|projects?|users?|machines|hosts))\b/,
          stop: sentenceStop,
          withinMax: 40,
        },
      },
      {
        anchors: ['other skills', 'other agents', 'other agent'],
        match:
          /(?<!\b(?:not|never|n't|can|may|that) )\b(?:(?:edit|modify|patch|change|rewrite|alter) (?:the |all |any )?other (?:installed )?skills (?:so|to|and|in order)|(?:tell|ask|instruct|convince) (?:all |any |the )?other agents (?:\w{1,12} ){0,5}?(?:to|that they (?:should|must)) (?:install|run|load|download|use|follow) this)\b/,
      },
    ],
  },
  {
    id: 'agent-settings-loosened',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Sets the agent to accept everything without asking',
    why: 'A setting that approves all tools outlives the skill and opens the machine to the next attack.',
    remediation: 'Leave the agent’s settings to its user.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/732.html'],
    patterns: [
      ...settingsWordings,
      {
        anchors: [
          'defaultmode',
          'enableallprojectmcpservers',
          'skipdangerousmodepermissionprompt',
          'chat.tools.autoapprove',
          'hastrustdialogaccepted',
          'bypasspermissionsmodeaccepted',
        ],
        match:
          /(?:"?defaultmode"?\s?:\s?"?bypasspermissions|"?(?:skipdangerousmodepermissionprompt|chat\.tools\.(?:global\.)?autoapprove|bypasspermissionsmodeaccepted|hastrustdialogaccepted)"?\s?[:=]\s?"?true)/,
      },
      {
        anchors: ['base_url', 'anthropic_base_url', 'openai_base_url'],
        match: {
          first: /\b(?:anthropic_base_url|openai_(?:api_)?base(?:_url)?)\b["']?\s?[:=]\s?["']?https?:\/\//,
          last: /(?:\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?!\d)(?<!127\.0\.0\.1|0\.0\.0\.0)|[\w-]{1,40}\.(?:ngrok[\w-]{0,8}\.\w{2,4}|trycloudflare\.com|xyz|top|tk|evil\.\w{2,4}))/,
          stop: /[\s\uE000]/,
          withinMax: 40,
        },
      },
    ],
  },
]
