import type { Rule } from '../match/rule.ts'
import { homeDeleted } from './system-flows.ts'
import { regex } from '../text/regex.ts'
import { containing } from '../match/pattern-tags.ts'

const category = 'destruction'
const references = ['https://attack.mitre.org/techniques/T1485/', 'https://attack.mitre.org/techniques/T1561/']
const remediation = 'Delete only the folder that the skill created itself, and ask the user first.'

/** Rules about irreversible deletion. */
export const rules: readonly Rule[] = [
  {
    id: 'deletes-everything',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Deletes a whole home folder or system',
    why: 'Such a deletion cannot be undone, and no task requires it.',
    remediation,
    references,
    patterns: [
      ...homeDeleted,
      containing('rm -|"rm"|rmtree|remove-item|rd /s|del /|rmsync|fs.rm')`\brm\s(-[\w-]{1,20}\s){0,2}
        (-\w{0,4}(r\w{0,2}f|f\w{0,2}r)\w{0,3}|-r\s-f|-f\s-r|--recursive\s--force)\s(--no-preserve-root\s)?["']?
        (/(\s?\.)?|~/?|\$\{?home\}?/?|/(home|users|etc|usr|var|bin|boot|lib|root|opt|system)/?)["']?
        (?=\s|$|[\n\uE000;&|)]|2?>|\.(\s|$|\uE000))|--no-preserve-root\b|\bshutil\.rmtree\s?\(\s?
        (["']/["']|os\.path\.expanduser\(\s?["']~["']\)|path\.home\(\))|\bremove-item\s{0-30 in line}(c:\\|\$home|
        \$env:userprofile)["']?\s{0-20 in line}-recurse|\b(rd|rmdir)\s/s\s/q\s["']?(c:\\|%userprofile%|%systemroot%)
        ["']?(?=\s|$)|\bdel\s/[fsq]\s(/[fsq]\s){1,2}c:\\`,
      regex`\bfind\s(/|~|\$home)\s{0-40 in line}(-delete\b|-exec\s(rm|shred)\b)`,
    ],
  },
  {
    id: 'wipes-disk',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Overwrites a disk',
    why: 'All data on the disk is lost permanently.',
    remediation,
    references,
    patterns: [
      containing('/dev/|shred|wipefs|format |diskpart|srm |wipe |sfill|clear-disk|cipher /w')`
        \bdd\sif=/dev/(zero|u?random)\sof=["']?(/dev/(sd|nvme|hd|vd|disk|mmcblk|xvd)|\$\{?\w)|
        (?<!\w)>\s?/dev/(sd[a-z]|nvme\d|disk\d|hda)\b|\bshred\s{0-30 in line}/dev/(sd|nvme|disk|hd)|
        \bformat(\.com)?\sc:(\s/|\s?$)|\bclear-disk\b{0-40 in line}-removedata|\b(mkfs(\.\w{2,5})?|mkswap|mke2fs|
        wipefs|sgdisk|blkdiscard)\s(--?[\w-]{1,12}\s([\w.:-]{1,20}\s)?){0,4}["']?/dev/(sd[a-z]|hd[a-z]|vd[a-z]|
        xvd[a-z]|nvme\d|mmcblk\d|r?disk\d|md\d|mapper/)|\b(srm|wipe)\s-\w{2,5}\s["']?[\w$/~]|\bsfill\s-`,
    ],
  },
  {
    id: 'ransom',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Deletes the means of restoring files, or demands a ransom for them',
    why: 'Ransomware does this before and after it encrypts files.',
    remediation: 'Remove it.',
    references: ['https://attack.mitre.org/techniques/T1486/', 'https://attack.mitre.org/techniques/T1490/'],
    patterns: [
      regex`\bvssadmin(\.exe)?\sdelete\sshadows\b|\bwmic\sshadowcopy\sdelete\b|\bwbadmin\sdelete\scatalog\b|
        \bbcdedit\b{0-40 in line}recoveryenabled\sno\b|\bwin32_shadowcopy\b{0-60 in line}delete`,
      regex`\b(all )?your files (have been|are|were) {0-1 words}encrypted\b[^\uE000]{0,160}\b(bitcoin|btc|monero|xmr|
        pay|wallet|ransom)\b`,
    ],
  },
  {
    id: 'kills-everything',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Ends every program of the user',
    why: 'Unsaved work is lost, and programs that monitor the machine are stopped.',
    remediation: 'End only the process that the skill started, by its process id.',
    references: ['https://attack.mitre.org/techniques/T1489/'],
    patterns: [
      regex`\bkill\s-(9|kill|sigkill)\s-1\b|\bpkill\s-(9|kill|sigkill)\s-u\s|\bkillall\s-(9|kill|sigkill)\s
        (bash|sh|zsh|-u)\b`,
    ],
  },
  {
    id: 'forceful-change',
    category,
    severity: 'medium',
    signal: 'power',
    title: 'Deletes or overwrites data irreversibly',
    why: 'A wrong name or folder would destroy other data.',
    remediation: 'Ask the user first, and name what will be deleted or overwritten.',
    references: ['https://cwe.mitre.org/data/definitions/732.html'],
    patterns: [
      containing(`rm -|git push|reset --hard|drop database|drop table|auto-approve|system prune|remove-item|rmtree|
        delete namespace|clean -`)`\brm\s-\w{0,4}(rf|fr)\w{0,3}\s["']?[\w$~/.{]|\bgit\spush\s{0-40 in line}
        (--force(?!-with)|-f)\b|\bgit\sreset\s--hard\b|\bdrop\s(database|table|schema)\s\w|
        \bterraform\s(destroy|apply)\s{0-30 in line}-auto-approve|\bdocker\ssystem\sprune\s{0-12 in line}-\w{0,2}
        [af]|\bremove-item\s{0-60 in line}-recurse|\bshutil\.rmtree\s?\(|\bkubectl\sdelete\s(namespace|ns|pvc|all)\b
        |\bgit\sclean\s-\w{0,3}f`,
    ],
  },
]
