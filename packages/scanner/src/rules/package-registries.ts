import type { Combination, Fact, Rule } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { containing } from '../match/pattern-tags.ts'
import { localHost } from './shapes.ts'
import { installAnchors, installer, registry } from './supply-chain.ts'

const category = 'supply-chain'
const references = [
  'https://owasp.org/www-project-top-10-ci-cd-security-risks/CICD-SEC-03-Dependency-Chain-Abuse',
  'https://cwe.mitre.org/data/definitions/427.html',
  'https://attack.mitre.org/techniques/T1195/001/',
]
const remediation =
  'Reserve the name in the public registry, use a scope that you own, or name one index for all packages.'

/** An address of a package registry without a known owner. */
const elsewhere = regex`["']?https?://(?!${localHost}|${registry}|proxy\.golang\.org|goproxy\.(cn|io)|(npm|pypi)\.(my|org))[\w-]{1,40}\.`

/** What is part of a combination: where packages come from, and that some are installed. */
export const facts: readonly Fact[] = [
  {
    id: 'registry-set-elsewhere',
    patterns: [
      regex`(@[\w-]{1,40}:registry\s?=\s?|\bnpmregistryserver\W{1,4}|\bgoproxy\s?=\s?|\bgem sources (-a|--add) |
        \bpip config set (global|user|site)\.(extra-)?index-url |\byarn config set registry |
        \b(extra-)?index-url\s?=\s?|\[\[tool\.(uv\.index|poetry\.source)\]\][^\[]{0,120}\burl\s?=\s?|
        \bbundle config (set )?(--\w{1,8} )?mirror\.\S{1,60} )${elsewhere}`,
    ],
  },
  {
    id: 'packages-installed',
    patterns: [containing(installAnchors)`${installer}|\bnpm ci\b|\buv sync\b|\bbundle install\b`],
  },
  { id: 'index-added', patterns: [regex`--extra-index-url[ =]|\bpip_extra_index_url\s?=|\bextra-index-url\s?=`] },
]

/** Rules about package names that only a private registry has. */
export const rules: readonly Rule[] = [
  {
    id: 'internal-package',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Installs a package whose name looks internal to an organisation',
    why: 'If the public registry does not have the name, anyone can publish a package under it.',
    remediation,
    references,
    patterns: [
      containing('internal|intranet|inhouse|in-house|corp-|-corp|private-|-private')`${installer}\s
        ["']?[^\n\uE000;|&]{0,60}?(?<=[\s"'])(@[\w-]{1,30}/)?((internal|intranet|inhouse|in-house|corp|private)-[a-z]
        [\w-]{1,40}|[a-z][\w-]{1,40}-(internal|intranet|inhouse|corp|private))(?=["']?([\s@=<>~\[]|$))`,
    ],
  },
]

/** Combinations about packages that another registry may replace. */
export const combinations: readonly Combination[] = [
  {
    id: 'registry-switched',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Installs packages after switching to a registry without a known owner',
    why: 'The owner of the registry decides what each name installs, and a package runs code on installation.',
    remediation: 'Install from the public registry, or explain whose registry it is and let the user set it.',
    references,
    all: [['registry-set-elsewhere'], ['packages-installed']],
    within: 40,
  },
  {
    id: 'dependency-confusion',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Installs an internal package while the public index is asked too',
    why: 'With an additional index the highest version wins, so a public package of the same name replaces the internal one.',
    remediation,
    references,
    all: [['index-added'], ['internal-package']],
    within: 3,
  },
]
