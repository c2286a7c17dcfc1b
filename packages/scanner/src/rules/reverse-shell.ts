import type { Rule } from '../match/rule.ts'
import { commandsFromAfar } from './remote-flows.ts'
import { blockStop, lineStop } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'remote-code'
const references = [
  'https://attack.mitre.org/techniques/T1059/004/',
  'https://attack.mitre.org/techniques/T1071/',
  'https://cwe.mitre.org/data/definitions/506.html',
]
const remediation = 'Remove it. No skill needs to give another machine a shell of its user.'

/** Rules about giving another machine a shell on this one. */
export const rules: readonly Rule[] = [
  {
    id: 'reverse-shell',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Gives another machine a shell on this one',
    why: 'The other machine can run any command with the rights of the user.',
    remediation,
    references,
    patterns: [
      ...commandsFromAfar,
      regex`\b(ba|z|da|k)?sh\s-\w{0,3}i\w{0,2}\b{0-60 in line}(>&?|<>|<&?)\s?["']?/dev/(tcp|udp)/|\bexec\s?\{?\w{0,6}
        \}?\s?(\d{1,3})?<?>&?\s?/dev/(tcp|udp)/{0-200 in line}\b(sh|while|cat|eval)\b|/dev/(tcp|udp)/{1-80 in line}0
        [<>]&\s?\d`,
      containing('nc |nc.|ncat|netcat')`\b(nc|ncat|netcat|nc\.traditional|nc\.openbsd|nc\.exe)\s[^\n\uE000|;]{0,80}?
        (-\w{0,6}[ec]|--exec|--sh-exec|-c)\s?["']?(/(usr/)?bin/|/system/bin/)?((ba|z|da|k)?sh|cmd(\.exe)?|
        powershell)\b`,
      within(200, blockStop)`\bmkfifo\b|\bmknod\b{0-40 in line}\sp\b
        … \|\s?(/(usr/)?bin/)?(ba|z|k|da)?sh\b{0-40 in line}\|\s?(nc|ncat|netcat|telnet|openssl)\b|
        \b(nc|ncat|netcat|telnet|openssl)\b{0-80 in line}\|\s?(/(usr/)?bin/)?(ba|z|k|da)?sh\b`,
      containing('telnet|openssl|nc |ncat')`\b(telnet|nc|ncat|openssl s_client)\s[^\n\uE000|]{3,80}\|\s?
        (/(usr/)?bin/)?(ba|z|k|da)?sh\b{0-20 in line}\|\s?(telnet|nc|ncat|openssl)\b`,
      within(400, blockStop)`\bsocket\.socket\s?\(|\bsocket\.create_connection\s?\(|\bimport socket\b|
        \.connect\s?\(\s?\(
        … \bos\.dup2\s?\(|\bpty\.spawn\s?\(|\bsubprocess\.(call|popen|run)\s?\(\s?\[?\s?["'](/(usr/)?bin/)?(ba|z)?sh
        ["']`,
      regex`\bperl\b{0-30 in line}-(m|e){0-20 in line}(use )?(io::)?socket\b{0-300 in line}\bexec\b|
        \buse socket;{0-300 in line}\bexec\s?[({]?\s?["']?/bin/`,
      within(240, blockStop)`\bfsockopen\s?\(|\btcpsocket\.(new|open)\s?\(
        … \b(exec|shell_exec|system|passthru|popen|proc_open)\s?\(?\s?["']?{0-20 in line}(sh|cmd)\b|<&\d\s?>&\d|
        \bio\.popen\b`,
      within(400, blockStop)`\b(net\.sockets\.|new )tcpclient\b
        … \b(iex|invoke-expression|getstream|streamreader|cmd(\.exe)?|powershell)\b`,
      regex`\bsocat\b{0-120 in line}\b(exec|system):\s?["']?{0-20 in line}(sh|cmd)\b{0-120 in line}|
        \bsocat\s{0-40 in line}tcp[46]?:{1-80 in line}exec:`,
      regex`\bg?awk\b{0-80 in line}/inet/(tcp|udp)/0/{1-120 in line}`,
      within(400, blockStop)`\bnet\.(socket|connect|createconnection)\b|require\s?\(\s?["']net["']\s?\)
        … \bspawn\s?\(\s?["'](/bin/)?(ba|z)?sh["']|\.pipe\s?\(\s?\w{1,12}\.stdin\s?\)|\bspawn\s?\(\s?["']
        (cmd(\.exe)?|powershell)`,
      within(300, blockStop)`\bnet\.dial\s?\(\s?"tcp" … \bexec\.command\s?\(\s?"(/bin/)?(ba)?sh"|\bcmd\.stdin\s?=`,
      regex`\b(open|start|spawn|launch|establish|create|initiate|run|execute|send|set ?up|maintain)(s|es|ing)? (an? |
        the |up )?{0-2 words}(reverse[ _-]?shell|back-?connect shell|bind shell)\b
        (?! (detect|scan|rule|pattern|check))[^\n\uE000.]{0,40}\b(to|on|at|from|with|for)\b`,
    ],
  },
  {
    id: 'network-listener',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Opens an unprotected network port',
    why: 'Everyone who can reach the port can use it, without authentication.',
    remediation: 'Use a server that authenticates its callers, bound to localhost.',
    references,
    patterns: [
      containing('nc |ncat|netcat|socat')`\b(nc|ncat|netcat)\s(-[a-z]{1,3}\s){0,3}-[a-z]{0,3}l[a-z]{0,4}\s?(-p\s?)?
        \$?\{?\w{2,12}\b`,
    ],
  },
  {
    id: 'reverse-tunnel',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Opens a tunnel that makes this machine accessible from outside',
    why: 'A tunnel in the background bypasses every firewall.',
    remediation: 'Ask the user to open a tunnel, only for as long as it is needed.',
    references: ['https://attack.mitre.org/techniques/T1572/', ...references],
    patterns: [
      within(80, lineStop)`\b(auto)?ssh\s(?={0-80 in line}-\w{0,4}r\s?([\w.:]{0,20}:)?\d{2,5}:
        (localhost|127\.0\.0\.1):22\b)
        … -\w{0,4}r\s?([\w.:]{0,20}:)?\d{2,5}:(localhost|127\.0\.0\.1):22\b`,
      regex`\bchisel\s(client\s{0-80 in line}\br:|server\s{0-60 in line}--reverse)|\bgs-netcat\b|
        \bligolo\b{0-60 in line}-connect\b`,
      regex`\bngrok\s(tcp|start)\s{0-20 in line}\b(22|3389|5900)\b|\bcloudflared\b{0-40 in line}--url\s["']?
        ((ssh|rdp|tcp)://|https?://(localhost|127\.0\.0\.1):(22|3389|5900)\b)|\bbore\slocal\s22\b|
        #\{?tmate_(ssh|web)\b|\btmate\s-f\b`,
    ],
  },
]
