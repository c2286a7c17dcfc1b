import { Flame, type IconNode, Package, Sparkles } from 'lucide'
import type { ComponentChildren } from 'preact'
import { addresses, nodeUrl, toAddress } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { Icon } from '../../ui/icon.tsx'
import { Copyable, NameLink, toCount } from '../../ui/parts.tsx'
import { Shown } from '../../ui/page.tsx'
import { type Skill, SkillLink } from '../../ui/skill-list.tsx'

const listedMax = 6
const categoriesMax = 12

/** What the first page offers below its search. */
export function Home() {
  const found = useData(['home'], async () => {
    const [{ categories }, trending, top, recent, { packs }] = await Promise.all([
      api.listCategories(),
      api.getTrending({ limit: listedMax }),
      api.searchSkills({ sort: 'downloads', limit: listedMax }),
      api.searchSkills({ sort: 'recent', limit: listedMax }),
      api.listPacks({ limit: listedMax }),
    ])
    const isTrending = trending.entries.length > 0
    const popular = isTrending ? trending.entries.map(({ skill }) => skill) : top.skills
    return { categories: categories.slice(0, categoriesMax), isTrending, popular, recent, packs }
  })
  return (
    <Shown of={found}>
      {({ categories, isTrending, popular, recent, packs }) =>
        recent.total === 0 ? (
          <FirstSteps />
        ) : (
          <>
            <ul class="categories" aria-label="Categories">
              {categories.map(({ name, count }) => (
                <li key={name}>
                  <a href={toAddress('/', { category: name })}>
                    <bdi>{name}</bdi> <span class="faint">{count.toLocaleString('en')}</span>
                  </a>
                </li>
              ))}
              <li>
                <a href={allSkills}>
                  {recent.estimated ? 'About' : 'All'} {toCount(recent.total, 'skill')}
                </a>
              </li>
            </ul>
            <div class="home-lists">
              <List
                icon={Flame}
                title={isTrending ? 'Trending this week' : 'Most downloaded'}
                more={isTrending ? '/trending' : allSkills}
                all={isTrending ? 'All trending skills' : 'All skills by downloads'}
              >
                {popular.map(toItem)}
              </List>
              <List icon={Sparkles} title="New" more="/?sort=recent" all="All skills by date">
                {recent.skills.map(toItem)}
              </List>
              {packs.length > 0 && (
                <List icon={Package} title="Packs" more="/packs" all="All packs">
                  {packs.map(({ slug, name, description }) => (
                    <li key={slug}>
                      <NameLink href={addresses.pack(slug)} name={name} />
                      <p dir="auto">{description}</p>
                    </li>
                  ))}
                </List>
              )}
            </div>
          </>
        )
      }
    </Shown>
  )
}

const allSkills = '/?sort=downloads'

const List = (props: { icon: IconNode; title: string; more: string; all: string; children: ComponentChildren }) => (
  <section>
    <h2>
      <Icon of={props.icon} /> {props.title}
    </h2>
    <ul class="short-list plain-links">{props.children}</ul>
    <p class="hint">
      <a href={props.more}>{props.all}</a>
    </p>
  </section>
)

const toItem = ({ id, fullName, description }: Skill) => (
  <li key={id}>
    <SkillLink name={fullName} />
    <p dir="auto">{description}</p>
  </li>
)

/** A node without skills: how to fill it and how agents use it. The commands work as they are written. */
const FirstSteps = () => (
  <section class="first-steps">
    <h2>No skills here yet</h2>
    <ol>
      <li>
        <h3>Publish a skill</h3>
        <p>
          A skill is a folder with a <code>SKILL.md</code> in it. <a href="/account/publish">Publish one here</a>, or
          log in at a terminal with <a href="/account/keys">an API key</a>:
        </p>
        <Copyable text={`skillstead login --url ${nodeUrl}`} label="Copy the login command" />
        <p>Then write one and publish it:</p>
        <Copyable text={publishing} label="Copy the publish commands" />
        <p class="hint">
          In a clone of Skillstead, run <code>alias skillstead="$PWD/skillstead"</code> first.
        </p>
      </li>
      <li>
        <h3>Or bring the ones you have</h3>
        <p>
          Publishes each skill of the folder <code>skills</code>:
        </p>
        <Copyable text={'for skill in skills/*/; do skillstead publish "$skill"; done'} label="Copy the command" />
      </li>
      <li>
        <h3>Connect an agent</h3>
        <p>It then finds and loads skills by itself.</p>
        <Copyable text={`claude mcp add --transport http skillstead ${nodeUrl}/mcp`} label="Copy the MCP command" />
      </li>
    </ol>
  </section>
)

const publishing = `mkdir my-skill
cat > my-skill/SKILL.md <<'END'
---
name: my-skill
description: What it does, and when an agent should use it.
---
The steps that the agent follows.
END
skillstead publish my-skill`
