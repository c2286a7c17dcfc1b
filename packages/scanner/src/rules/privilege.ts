import { machineOpened } from './authority-orders.ts'
import type { Rule } from '../match/rule.ts'
import { publicIp } from './shapes.ts'
import { guardsDown } from './system-flows.ts'
import { regex } from '../text/regex.ts'
import { containing } from '../match/pattern-tags.ts'

const category = 'privilege'
const references = ['https://attack.mitre.org/tactics/TA0004/', 'https://cwe.mitre.org/data/definitions/250.html']
const weakening = ['https://attack.mitre.org/techniques/T1562/', 'https://cwe.mitre.org/data/definitions/693.html']

/** Rules about rights beyond the task, and disabled protections. */
export const rules: readonly Rule[] = [
  {
    id: 'open-permissions',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Makes system files writable or readable for everyone',
    why: 'Every program on the machine can then change what the system runs.',
    remediation: 'Grant only the required rights, and only on the required file.',
    references: [...references, 'https://cwe.mitre.org/data/definitions/732.html'],
    patterns: [
      regex`\bchmod\s(-\w{1,3}\s){0,2}(0?777|a\+rwx|a=rwx|ugo\+rwx|o\+w)\s["']?
        (/(etc|usr|bin|sbin|root|home|boot|var|lib|opt|dev)?(/(passwd|shadow|sudoers)?)?|~/?|\$\{?home\}?/?|
        ~/\.ssh\S{0,30})["']?(?=\s?($|[\n\uE000;&|),.]|and\b))|\bicacls\s{0-60 in line}/grant\s["']?everyone:\(?
        \w{0,8}f\b`,
    ],
  },
  {
    id: 'lasting-root',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Grants permanent root rights to itself or others',
    why: 'From then on every program of the user can act as root.',
    remediation: 'Ask the user to run the one command that needs root rights.',
    references: [...references, 'https://attack.mitre.org/techniques/T1548/'],
    patterns: [
      regex`\bnopasswd\s?:\s?all\b{0-60 in line}(>>?|tee|sudoers)|\becho\s{0-80 in line}\bnopasswd\s?:|
        (>>?|\btee(\s-a)?)\s?["']?/etc/sudoers(\.d/[\w-]{1,40})?\b(?![^\uE000]{0,600}\bnopasswd\s?: ?/)`,
      regex`\bchmod\s([ug]?\+s|[2467][0-7]{3})\s["']?(/(usr/)?(local/)?s?bin/|/tmp/|\$|\./)|\bchmod\s\w?\+s\s|
        \bsetcap\scap_(setuid|sys_admin|dac_override|sys_ptrace)\S{0,12}|\bos\.setuid\s?\(\s?0\s?\)|
        \bchmod\s[ug]\+s\s["']?\$\(`,
      regex`\bnet\slocalgroup\s["']?administrators["']?\s{1-40 in line}/add\b|\bnet\suser\s\S{1,24}\s\S{1,40}\s/add\b
        |\bpsexec(64)?(\.exe)?\s{0-40 in line}-s\b|\bcreate\sclusterrolebinding\s{0-60 in line}cluster-admin{0-60 in line}(:default\b|=default:|
        system:(anonymous|unauthenticated|authenticated|serviceaccounts)\b|agent)|\battach-(user|role|
        group)-policy\s{0-100 in line}administratoraccess\b
        |\buseradd\s{0-60 in line}(-o\s-u\s0|-u\s0\s-o|-g\s?(0|root|sudo|wheel)\b)|\bpasswd\s-d\s\w|
        \badd-localgroupmember\b{0-40 in line}administrators`,
    ],
  },
  {
    id: 'container-escape',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Gives a container access to the host',
    why: 'A container that can access the whole host has root rights on it.',
    remediation: 'Mount only the required folder, without --privileged.',
    references: ['https://attack.mitre.org/techniques/T1611/', ...references],
    patterns: [
      regex`\bnsenter["',\s]{1,6}(-t|--target)["',\s=]{1,6}1\b`,
      regex`\b(docker|podman)\s(run|create)\b{0-160 in line}(-v\s?["']?/:/|--volume[ =]["']?/:/|
        --mount\s{0-20 in line}(source|src)=/,|--privileged\b{0-60 in line}--(pid|net|ipc|userns)[= ]host|
        --(pid|ipc)[= ]host\b{0-60 in line}--privileged)|\bnsenter\s{0-30 in line}(-t|--target)[ =]?1\b|
        \brelease_agent\b{0-60 in line}>|\\?"binds\\?"\s?:\s?\[\s?\\?"/:/`,
    ],
  },
  {
    id: 'guard-disabled',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Disables a protection of the machine',
    why: 'No skill needs a machine without its protections.',
    remediation: 'Remove it; add an exception only for the program that needs one.',
    references: weakening,
    patterns: [
      regex`workspace\.trust\.enabled["']?\s?[:=]\s?false|\ballowautomatictasks["']?\s?[:=]\s?["']?on\b|
        \bverifysignature["']?\s?[:=]\s?false`,
      ...machineOpened,
      guardsDown,
      regex`\bset-mppreference\s{0-40 in line}-disable\w{1,40}\s(\$true|1)|\badd-mppreference\s{0-20 in line}
        -exclusion(path|process|extension)\b|\b(sc|net)(\.exe)?\s(stop|delete|config)\s["']?(windefend|sense|wscsvc)
        \b|\bstop-service\s{0-20 in line}\b(windefend|sense|wscsvc|mpssvc)\b|\bnetsh\sadvfirewall\sset\s\w{1,20}\s
        state\soff\b|\bamsiinitfailed\b{0-60 in line}setvalue|\benablelua\b{0-30 in line}/d\s0\b`,
      regex`\bcsrutil\sdisable\b|\bspctl\s--(master|global)-disable\b|\bsocketfilterfw\s--setglobalstate\soff\b|
        \b(systemctl\s(stop|disable|mask)(\s--now)?|service)\s(auditd|falcon-sensor|clamav\S{0,10}|rsyslog|osqueryd)
        \b|\biptables\s-p\s(input|forward)\saccept\b{0-40 in line}(\n|;|&&)\s?(sudo )?iptables\s-f\b`,
      regex`["']\s{0,4}(permitrootlogin\syes|permitemptypasswords\syes)["']{0-40 in line}(>>|tee)|
        \bpermitrootlogin yes\b{0-40 in line}(>>|tee)|\bpermitemptypasswords\syes\b|\bsed\s{0-80 in line}\b
        permitrootlogin\syes\b(?!/\w)`,
    ],
  },
  {
    id: 'trusted-authority-added',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Redirects the network traffic of the machine',
    why: 'An attacker on the new route can read and change everything that the machine sends.',
    remediation: 'Remove it; set a proxy only for the program that needs one.',
    references: ['https://attack.mitre.org/techniques/T1557/', 'https://attack.mitre.org/techniques/T1553/004/'],
    patterns: [
      regex`\bexport\s(https?|all)_proxy=["']?(https?|socks5h?)://(?!localhost|127\.|\$|<|\{|
        proxy\.(example|company|corp)|your|user|10\.|192\.168|host\b|\[)[\w.-]{4,60}:\d|\bset (the )?["']?https?
        _proxy\b{0-60 in line}\bto (an? |the )?(attacker|our|my|remote|following)\b`,
      regex`\b(anthropic|openai)_(base_url|api_base)["']?\s?[:=]\s?["']?https?://(${publicIp}|
        [\w-]{1,40}\.(ngrok|trycloudflare|loca\.lt|workers\.dev))`,
    ],
  },
  {
    id: 'looks-for-weakness',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Searches the machine for a way to gain more rights',
    why: 'Attackers start with such a search.',
    remediation: 'Remove it, unless the skill tests machines that the user owns, and states this.',
    references: ['https://attack.mitre.org/techniques/T1548/001/', 'https://attack.mitre.org/techniques/T1082/'],
    patterns: [
      regex`\bfind\s/\s{0-40 in line}-perm\s[-/]?([246]000|u=s|u\+s|g=s)|\b(linpeas|linenum)\.sh\b|
        \bwinpeas(any|x64)?\.(exe|bat)\b`,
    ],
  },
  {
    id: 'elevated-rights',
    category,
    severity: 'medium',
    signal: 'power',
    title: 'Acts with the rights of root or of the host',
    why: 'A mistake with these rights affects the whole machine.',
    remediation: 'State which command needs the rights, and let the user run it.',
    references,
    patterns: [
      containing(`sudo |docker.sock|--privileged|chmod 777|runas|chmod -r 777|securitycontext|privileged: true`)`
        (?<![\w-])sudo (-\w{1,3}\s)?[\w/~$"]|/var/run/docker\.sock\b|--privileged\b|\bprivileged: true\b|
        \bchmod\s(-r\s)?0?777\s|\b-verb\srunas\b`,
    ],
  },
  {
    id: 'checks-disabled',
    category,
    severity: 'medium',
    signal: 'power',
    title: 'Disables a security check',
    why: 'The machine then accepts what the check would have rejected.',
    remediation: 'Keep the check, and fix the problem that it reports.',
    references: [...weakening, 'https://cwe.mitre.org/data/definitions/295.html'],
    patterns: [
      regex`\bnode_tls_reject_unauthorized["']?\]?\s?=\s?["']?0|\brejectunauthorized["']?\s?:\s?false|
        \bverify\s?=\s?false\b|\bcert_none\b|\bcreate_unverified\w{1,20}|\bstrict-ssl\s(=\s)?false\b|
        \bsslverify\s(=\s)?false\b|\bcurl\s(-\w{1,6}\s){0,2}(-\w{0,4}k\w{0,4}|--insecure)\s|\binsecureskipverify\s?:
        \s?true|--no-check-certificate\b|\bcom\.apple\.quarantine\b|-(executionpolicy|ep)\s(bypass|unrestricted)\b|
        \bset-executionpolicy\s(bypass|unrestricted)\b|\bsetenforce\s0\b|\bufw\sdisable\b|\bstricthostkeychecking
        [= ]no\b|\bgit\s(commit|push)\b{0-60 in line}--no-verify\b|--trusted-host\b`,
    ],
  },
]
