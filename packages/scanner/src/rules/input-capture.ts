import type { Rule } from '../rule.ts'
import { blockStop } from './shapes.ts'

const category = 'credential-access'

/** What watches the user at work. */
export const rules: readonly Rule[] = [
  {
    id: 'input-capture',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Records what the user types, sees or copies',
    why: 'Passwords and letters pass there in the clear.',
    remediation: 'Remove it. Ask the user for what is needed.',
    references: [
      'https://attack.mitre.org/techniques/T1056/001/',
      'https://attack.mitre.org/techniques/T1113/',
      'https://attack.mitre.org/techniques/T1115/',
    ],
    patterns: [
      {
        anchors: [
          'pynput',
          'keyboard.',
          'getasynckeystate',
          'setwindowshookex',
          'xinput',
          '/dev/input',
          'logkeys',
          'cgeventtap',
          'cgevent.tap',
          'iohook',
        ],
        match:
          /\bpynput\.keyboard\b[^\n\uE000]{0,40}listener|\bkeyboard\.listener\s?\(\s?on_press|\bkeyboard\.(?:on_press|on_release|hook|record)\s?\(|\bgetasynckeystate\b|\bsetwindowshookex\w?\b|\bxinput\stest\b|\bcat\s\/dev\/input\/event|\bcgevent\.?tapcreate\b/,
      },
      {
        anchors: ['keylog', 'keystroke', 'key logger'],
        match:
          /\b(?:install|start|run|launch|deploy|inject|add|enable|set up|register|create)(?:s|ing)? (?:an? |the |in )?(?:\w{1,14} ){0,2}?key-?\s?logger\b|\b(?:records?|captur(?:e|es|ing)|logs?|logging|monitors?|intercepts?|steals?) (?:all |the |every |user'?s? |each ){0,3}keystrokes?\b/,
      },
      {
        anchors: ['clipboard', 'pbpaste', 'xclip', 'pyperclip', 'screenshot', 'screencapture', 'imagegrab'],
        match: {
          first:
            /\bpbpaste\b|\bxclip\s[^\n\uE000]{0,24}-o\b|\bpyperclip\.paste\s?\(|\bget-clipboard\b|\bimagegrab\.grab\s?\(|\bscreencapture\s-x\b/,
          last: /\bcurl\b[^\n\uE000]{0,60}(?:-d\b|--data|-f\b)|\brequests\.post\b|\burlopen\s?\(|\bnc\s|\bsendmail\b/,
          stop: blockStop,
          withinMax: 300,
        },
      },
    ],
  },
  {
    id: 'password-asked',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Asks for the password of the machine in a window of its own',
    why: 'The window looks like one of the system, and what is typed goes to whoever made it.',
    remediation: 'Let the system ask, with `sudo` or its own dialog.',
    references: ['https://attack.mitre.org/techniques/T1056/002/'],
    patterns: [
      {
        anchors: ['display dialog', 'hidden answer', 'authonly', 'promptforcredential', 'get-credential'],
        match:
          /\bdisplay dialog\b[^\n\uE000]{0,200}\bhidden answer\b|\bdscl\s[^\n\uE000]{0,20}-authonly\b|\bpromptforcredential\s?\(/,
      },
    ],
  },
  {
    id: 'hidden-window',
    category: 'concealment',
    severity: 'high',
    signal: 'suspicious',
    title: 'Starts a program in a window that nobody sees',
    why: 'Who works for the user works in sight.',
    remediation: 'Start it in the open.',
    references: ['https://attack.mitre.org/techniques/T1564/003/'],
    patterns: [
      {
        anchors: ['hidden', 'vbhide', 'create_no_window'],
        match:
          /\b(?:powershell|pwsh|start-process)(?:\.exe)?\b[^\n\uE000]{0,120}-w(?:indowstyle)?\s["']?(?:hidden|1\b)|\bwscript\.shell\b[^\n\uE000]{0,60}\.run\b[^\n\uE000]{0,120},\s?0\b/,
      },
    ],
  },
]
