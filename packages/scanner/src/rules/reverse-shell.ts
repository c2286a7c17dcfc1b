import type { Rule } from '../rule.ts'
import { commandsFromAfar } from './remote-flows.ts'
import { blockStop, lineStop } from './shapes.ts'

const category = 'remote-code'
const references = [
  'https://attack.mitre.org/techniques/T1059/004/',
  'https://attack.mitre.org/techniques/T1071/',
  'https://cwe.mitre.org/data/definitions/506.html',
]
const remediation = 'Remove it. No skill needs to hand a shell of its user to another machine.'

/** A shell in the hands of another machine. */
export const rules: readonly Rule[] = [
  {
    id: 'reverse-shell',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Hands a shell to another machine',
    why: 'Whoever listens there runs whatever they like with the rights of the user.',
    remediation,
    references,
    patterns: [
      ...commandsFromAfar,
      {
        anchors: ['/dev/tcp/', '/dev/udp/'],
        match:
          /\b(?:ba|z|da|k)?sh\s-\w{0,3}i\w{0,2}\b[^\n\uE000]{0,60}(?:>&?|<>|<&?)\s?["']?\/dev\/(?:tcp|udp)\/|\bexec\s?\{?\w{0,6}\}?\s?(?:\d{1,3})?<?>&?\s?\/dev\/(?:tcp|udp)\/[^\n\uE000]{0,200}\b(?:sh|while|cat|eval)\b|\/dev\/(?:tcp|udp)\/[^\n\uE000]{1,80}0[<>]&\s?\d/,
      },
      {
        anchors: ['nc ', 'nc.', 'ncat', 'netcat'],
        match:
          /\b(?:nc|ncat|netcat|nc\.traditional|nc\.openbsd|nc\.exe)\s[^\n\uE000|;]{0,80}?(?:-\w{0,6}[ec]|--exec|--sh-exec|-c)\s?["']?(?:\/(?:usr\/)?bin\/|\/system\/bin\/)?(?:(?:ba|z|da|k)?sh|cmd(?:\.exe)?|powershell)\b/,
      },
      {
        anchors: ['mkfifo', 'mknod', '/tmp/f'],
        match: {
          first: /\bmkfifo\b|\bmknod\b[^\n\uE000]{0,40}\sp\b/,
          last: /\|\s?(?:\/(?:usr\/)?bin\/)?(?:ba|z|k|da)?sh\b[^\n\uE000]{0,40}\|\s?(?:nc|ncat|netcat|telnet|openssl)\b|\b(?:nc|ncat|netcat|telnet|openssl)\b[^\n\uE000]{0,80}\|\s?(?:\/(?:usr\/)?bin\/)?(?:ba|z|k|da)?sh\b/,
          stop: blockStop,
          withinMax: 200,
        },
      },
      {
        anchors: ['telnet', 'openssl', 'nc ', 'ncat'],
        match:
          /\b(?:telnet|nc|ncat|openssl s_client)\s[^\n\uE000|]{3,80}\|\s?(?:\/(?:usr\/)?bin\/)?(?:ba|z|k|da)?sh\b[^\n\uE000]{0,20}\|\s?(?:telnet|nc|ncat|openssl)\b/,
      },
      {
        anchors: ['dup2', 'pty.spawn', 'subprocess'],
        match: {
          first: /\bsocket\.socket\s?\(|\bsocket\.create_connection\s?\(|\bimport socket\b|\.connect\s?\(\s?\(/,
          last: /\bos\.dup2\s?\(|\bpty\.spawn\s?\(|\bsubprocess\.(?:call|popen|run)\s?\(\s?\[?\s?["'](?:\/(?:usr\/)?bin\/)?(?:ba|z)?sh["']/,
          stop: blockStop,
          withinMax: 400,
        },
      },
      {
        anchors: ['perl', 'socket'],
        match:
          /\bperl\b[^\n\uE000]{0,30}-(?:m|e)[^\n\uE000]{0,20}(?:use )?(?:io::)?socket\b[^\n\uE000]{0,300}\bexec\b|\buse socket;[^\n\uE000]{0,300}\bexec\s?[({]?\s?["']?\/bin\//,
      },
      {
        anchors: ['fsockopen', 'tcpsocket', 'tcpserver'],
        match: {
          first: /\bfsockopen\s?\(|\btcpsocket\.(?:new|open)\s?\(/,
          last: /\b(?:exec|shell_exec|system|passthru|popen|proc_open)\s?\(?\s?["']?[^\n\uE000]{0,20}(?:sh|cmd)\b|<&\d\s?>&\d|\bio\.popen\b/,
          stop: blockStop,
          withinMax: 240,
        },
      },
      {
        anchors: ['tcpclient'],
        match: {
          first: /\b(?:net\.sockets\.|new )tcpclient\b/,
          last: /\b(?:iex|invoke-expression|getstream|streamreader|cmd(?:\.exe)?|powershell)\b/,
          stop: blockStop,
          withinMax: 400,
        },
      },
      {
        anchors: ['socat'],
        match:
          /\bsocat\b[^\n\uE000]{0,120}\b(?:exec|system):\s?["']?[^\n\uE000]{0,20}(?:sh|cmd)\b[^\n\uE000]{0,120}|\bsocat\s[^\n\uE000]{0,40}tcp[46]?:[^\n\uE000]{1,80}exec:/,
      },
      {
        anchors: ['/inet/tcp', '/inet/udp'],
        match: /\bg?awk\b[^\n\uE000]{0,80}\/inet\/(?:tcp|udp)\/0\/[^\n\uE000]{1,120}/,
      },
      {
        anchors: ['child_process', 'net.socket', 'net.connect', 'createconnection'],
        match: {
          first: /\bnet\.(?:socket|connect|createconnection)\b|require\s?\(\s?["']net["']\s?\)/,
          last: /\bspawn\s?\(\s?["'](?:\/bin\/)?(?:ba|z)?sh["']|\.pipe\s?\(\s?\w{1,12}\.stdin\s?\)|\bspawn\s?\(\s?["'](?:cmd(?:\.exe)?|powershell)/,
          stop: blockStop,
          withinMax: 400,
        },
      },
      {
        anchors: ['net.dial'],
        match: {
          first: /\bnet\.dial\s?\(\s?"tcp"/,
          last: /\bexec\.command\s?\(\s?"(?:\/bin\/)?(?:ba)?sh"|\bcmd\.stdin\s?=/,
          stop: blockStop,
          withinMax: 300,
        },
      },
      {
        anchors: ['reverse shell', 'reverse_shell', 'reverseshell', 'backconnect', 'back-connect'],
        match:
          /\b(?:open|start|spawn|launch|establish|create|initiate|run|execute|send|set ?up|maintain)(?:s|es|ing)? (?:an? |the |up )?(?:\w{1,14} ){0,2}?(?:reverse[ _-]?shell|back-?connect shell|bind shell)\b(?! (?:detect|scan|rule|pattern|check))[^\n\uE000.]{0,40}\b(?:to|on|at|from|with|for)\b/,
      },
    ],
  },
  {
    id: 'network-listener',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Opens a raw listener on the network',
    why: 'Whoever reaches the port reaches the machine, and nothing asks who it is.',
    remediation: 'Use a server that checks who calls, bound to localhost.',
    references,
    patterns: [
      {
        anchors: ['nc ', 'ncat', 'netcat', 'socat'],
        match: /\b(?:nc|ncat|netcat)\s(?:-[a-z]{1,3}\s){0,3}-[a-z]{0,3}l[a-z]{0,4}\s?(?:-p\s?)?\$?\{?\w{2,12}\b/,
      },
    ],
  },
  {
    id: 'reverse-tunnel',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Opens a way into this machine from outside',
    why: 'A tunnel in the background lets another machine in behind every firewall.',
    remediation: 'Ask the user to open a tunnel by hand, for as long as it is needed.',
    references: ['https://attack.mitre.org/techniques/T1572/', ...references],
    patterns: [
      {
        anchors: ['ssh '],
        match: {
          first:
            /\b(?:auto)?ssh\s(?=[^\n\uE000]{0,80}-\w{0,4}r\s?(?:[\w.:]{0,20}:)?\d{2,5}:(?:localhost|127\.0\.0\.1):22\b)/,
          last: /-\w{0,4}r\s?(?:[\w.:]{0,20}:)?\d{2,5}:(?:localhost|127\.0\.0\.1):22\b/,
          stop: lineStop,
          withinMax: 80,
        },
      },
      {
        anchors: ['chisel', 'frpc', 'gs-netcat', 'rathole', 'ligolo'],
        match:
          /\bchisel\s(?:client\s[^\n\uE000]{0,80}\br:|server\s[^\n\uE000]{0,60}--reverse)|\bgs-netcat\b|\bligolo\b[^\n\uE000]{0,60}-connect\b/,
      },
      {
        anchors: ['ngrok', 'cloudflared', 'bore ', 'tmate'],
        match:
          /\bngrok\s(?:tcp|start)\s[^\n\uE000]{0,20}\b(?:22|3389|5900)\b|\bcloudflared\b[^\n\uE000]{0,40}--url\s["']?(?:(?:ssh|rdp|tcp):\/\/|https?:\/\/(?:localhost|127\.0\.0\.1):(?:22|3389|5900)\b)|\bbore\slocal\s22\b|#\{?tmate_(?:ssh|web)\b|\btmate\s-f\b/,
      },
    ],
  },
]
