import '../../styles/skill.css'
import { RegistryError } from '@skillstead/client'
import { useLocation, useRoute } from 'preact-iso'
import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { addresses, toAddress, useAddress } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { mayDo, useRoleFor, toSkillOwner, useMayManage } from '../../organisations.ts'
import { lazyPart } from '../../ui/lazy-components.tsx'
import { LoadedPage, Loading, Page } from '../../ui/page.tsx'
import { noteRecentSkill } from '../../browser-memory.ts'
import { FullName } from '../../ui/skill-list.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { FactsColumn } from './facts-column.tsx'
import { InstallTab, InstallBox } from './install-tab.tsx'
import { Standing } from './standing.tsx'
import { ReadmeTab } from './readme-tab.tsx'
import { HeadActions, SkillHead } from './skill-head.tsx'
import { toTab, type ShownSkill } from './shown-skill.ts'
import { TrustBox } from './trust-box.tsx'

type Tab = readonly [tab: string, title: string, content: FunctionComponent<{ shown: ShownSkill }>]

const tabs: readonly Tab[] = [
  ['', 'Readme', ReadmeTab],
  ['files', 'Files', lazyPart(async () => (await import('./files-tab.tsx')).FilesTab)],
  ['versions', 'Versions', lazyPart(async () => (await import('./versions-tab.tsx')).VersionsTab)],
  ['security', 'Security', lazyPart(async () => (await import('./security-tab.tsx')).SecurityTab)],
  ['provenance', 'Provenance', lazyPart(async () => (await import('./provenance-tab.tsx')).ProvenanceTab)],
  ['similar', 'Similar', lazyPart(async () => (await import('./similar-tab.tsx')).SimilarTab)],
  ['reviews', 'Reviews', lazyPart(async () => (await import('./reviews-tab.tsx')).ReviewsTab)],
  ['issues', 'Issues', lazyPart(async () => (await import('./issues-tab.tsx')).IssuesTab)],
]
/** For users who may publish versions of the skill, and for administrators. */
const manageTab: Tab = ['manage', 'Manage', lazyPart(async () => (await import('./manage-tab.tsx')).ManageTab)]
/** Tabs that are not in the bar; other parts of the app link to them. */
const unlisted: readonly Tab[] = [
  ['install', 'Install', InstallTab],
  ['report', 'Report', lazyPart(async () => (await import('./report-tab.tsx')).ReportTab)],
]

/** The page of one skill, with its tabs. */
export default function SkillPage() {
  const { params } = useRoute()
  const { version } = useAddress().fields
  const asked = `${params.owner}/${params.name}`
  const found = useData(['skill', asked, 'details', version], () => api.getSkill({ name: asked, version }))
  const { error } = found
  const mayAppeal = mayDo(useRoleFor(toSkillOwner(asked)), 'manage')
  const instead = (
    <>
      {error instanceof RegistryError && error.code === 'taken_down' && mayAppeal && <Standing name={asked} />}
      <p>
        {version && (
          <>
            <a href={addresses.skill(asked)}>Show the latest version</a> or{' '}
          </>
        )}
        <a href={toAddress('/', { q: params.name })}>{version ? 'search' : 'Search'} for a skill like it</a>
      </p>
    </>
  )
  return (
    <LoadedPage title={asked} of={found} instead={instead}>
      {(skill) => {
        const latest = skill.stub ? '' : skill.latestVersion
        const shown = { skill, name: asked, version: version ?? latest, asked: version }
        return <SkillParts shown={shown} tab={params.tab ?? ''} />
      }}
    </LoadedPage>
  )
}

function SkillParts({ shown, tab }: { shown: ShownSkill; tab: string }) {
  const { skill, name: asked } = shown
  const { route, url } = useLocation()
  const mayManage = useMayManage(skill)
  const listed = mayManage ? [...tabs, manageTab] : tabs
  const Content = [...listed, ...unlisted].find(([name]) => name === tab)?.[2]
  const links = listed.map(([name, title]) => ({ href: toTab(shown, name), title, current: name === tab }))
  useEffect(() => noteRecentSkill(skill.fullName), [skill.fullName])
  useEffect(() => {
    // A transferred skill is found under its old name.
    if (skill.fullName !== asked) route(url.replace(addresses.skill(asked), addresses.skill(skill.fullName)), true)
  }, [skill, asked])
  // Users who manage a skill know it, so on a phone the boxes of install and trust come after the forms.
  const isManaged = tab === 'manage'
  const boxes = (
    <aside class="at-hand" aria-label="Install and trust">
      {shown.version && <InstallBox shown={shown} />}
      <TrustBox shown={shown} />
    </aside>
  )
  return (
    <Page title={asked} heading={<FullName name={asked} />} aside={<HeadActions shown={shown} />}>
      <SkillHead shown={shown} />
      <div class="skill-parts">
        {!isManaged && boxes}
        <div class="content">
          <Tabs label="Parts of the skill" tabs={links} />
          {Content ? (
            <Content shown={shown} />
          ) : isManaged && mayManage === undefined ? (
            <Loading />
          ) : (
            <p>
              There is no such page of this skill. <a href={toTab(shown, '')}>Go to its readme</a>.
            </p>
          )}
        </div>
        {isManaged && boxes}
        <aside class="facts-column" aria-label="Facts">
          <FactsColumn shown={shown} />
        </aside>
      </div>
    </Page>
  )
}
