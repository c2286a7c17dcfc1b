import type { Combination, Rule } from '../match/rule.ts'
import { regex, regexWith } from '../text/regex.ts'

const category = 'persistence'
const references = [
  'https://attack.mitre.org/techniques/T1546/',
  'https://cwe.mitre.org/data/definitions/829.html',
  'https://genai.owasp.org/llmrisk/llm062025-excessive-agency/',
]

/** Events at which agents run the commands of a hook. */
const event = regex`(SessionStart|SessionEnd|PreToolUse|PostToolUse|UserPromptSubmit|Stop|SubagentStop|PreCompact|
  Notification|PermissionRequest|sessionStart|sessionEnd|preToolUse|postToolUse|userPromptSubmitted|beforeShellExecution|
  beforeSubmitPrompt|beforeMCPExecution|beforeReadFile|afterFileEdit)`

/** Rules about settings that a skill carries, from which an agent or an editor starts commands. */
export const rules: readonly Rule[] = [
  {
    id: 'started-by-host',
    category,
    severity: 'medium',
    signal: 'power',
    title: 'Carries settings from which a host starts commands',
    why: 'If they are installed with the skill, its commands run without a decision of the agent or its user.',
    remediation: 'List the commands in SKILL.md, and let the user add them to the settings.',
    references,
    roles: ['script'],
    patterns: [
      {
        anchors: ['"hooks"'],
        match: regex`"hooks"\s{0,20}:\s{0,20}\{\s{0,80}"${event}"\s{0,20}:`,
        view: 'raw',
      },
      {
        anchors: ['"mcpservers"', '"mcp_servers"'],
        match: regex`"(mcpServers|mcp_servers)"\s{0,20}:\s{0,20}\{[^\}]{0,400}"command"\s{0,20}:`,
        view: 'raw',
      },
      {
        anchors: ['folderopen', 'createcommand', 'startcommand', 'attachcommand', 'apikeyhelper', 'statusline'],
        match: regex`"runOn"\s{0,9}:\s{0,9}"folderOpen"|"(initialize|(on|post)Create|post(Start|Attach))Command"\s{0,9}:|
          "apiKeyHelper"\s{0,9}:|"statusLine"\s{0,9}:\s{0,9}\{[^\}]{0,200}"command"`,
        view: 'raw',
      },
    ],
  },
  {
    id: 'hook-in-frontmatter',
    category,
    severity: 'medium',
    signal: 'power',
    title: 'Defines hooks that run commands while the skill is in use',
    why: 'A host that supports them runs the commands without a decision of the agent or its user.',
    remediation: 'Describe the steps in the text instead, or explain each hook there.',
    references,
    roles: ['instruction'],
    patterns: [
      {
        anchors: ['hooks:'],
        match: regexWith('m')`^hooks:\s{1,20}${event}:(?=[^]{0,300}?\n\s{1,20}(-\s)?command:)`,
        view: 'raw',
      },
    ],
  },
]

/** Combinations of what a host starts and what it does. */
export const combinations: readonly Combination[] = [
  {
    id: 'host-starts-remote-code',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Carries settings from which a host runs code of the network',
    why: 'The owner of the address can run any code in each session, without a decision of the agent or its user.',
    remediation: 'Remove the settings; let the user install a released version.',
    references,
    all: [
      ['started-by-host', 'hook-in-frontmatter'],
      ['piped-remote-code', 'piped-from-nowhere', 'downloaded-and-run', 'decoded-and-run'],
    ],
    within: 12,
  },
]
