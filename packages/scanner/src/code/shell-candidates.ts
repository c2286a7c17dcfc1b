import { regexWith } from '../text/regex.ts'

/** Programs of the network, and ways to run what comes from it. */
const network = regexWith('i')`\b(curl|wget2?|aria2c|nc|ncat|netcat|socat|telnet|scp|sftp|rsync|rclone|ftp|xh|https?|
  s_client|mail|dig|nslookup|gist|s3|gsutil|croc)\s|/dev/(tcp|udp)\b|\bgit\s(add|push|clone)|\bpython\d?\s-m\shttp`
/** Operations that hide a text or the name of a program. */
const hiding = regexWith('i')`\b(base64|base32|xxd|openssl|uudecode|rev|tr|eval|source|printf|gunzip|zcat)\b|
  \$['\{(]\w{0,20}[\\:/]|(?<=\w)(""|'')(?=\w)|["']\w{1,8}["']\w|\w\\\w|\$\{?\w{1,20}\}?\$\{?\w|\$0|
  \$\{!|^\s{0,8}\{\w{1,12},`
/** Files that others run or obey, rights, and data that may be lost. */
const grave = regexWith('i')`rc\b|profile|authorized_keys|cron|systemd|launch(agents|daemons|ctl)|autostart|hooks|
  \bat\s|sudoers|chmod\s|setcap|setenforce|\bufw\b|iptables|spctl|quarantine|sslverify|\brm\s|\bdd\s|mkfs|wipefs|
  \bshred\b|/dev/[shv]d|nvme|-delete\b|claude|agents\.md|mcp\.json|settings\.json|gemini\.md|soul\.md|\b(python|node|
  perl|ruby)\d?\s-[ce]\b|systemctl|\bngrok|mkfifo|-R\s\d`

/** Whether a shell script can do anything that a rule is about. */
export function mayMatterInShell(text: string): boolean {
  return network.test(text) || hiding.test(text) || grave.test(text)
}
