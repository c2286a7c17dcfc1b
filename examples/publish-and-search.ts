// Publishes a skill to a running node and finds it again. Run it with
//   node --conditions=source examples/publish-and-search.ts http://localhost:7545 ssk_...
import { createClient } from '@skillstead/client'

const [baseUrl = 'http://localhost:7545', apiKey = process.env.SKILLSTEAD_KEY] = process.argv.slice(2)
const api = createClient({ baseUrl, apiKey })

const { username } = await api.getMe()
const skillMd = `---
name: standup-notes
description: Turn yesterday's commits and today's plan into three short lines for a stand-up.
---
# Stand-up notes

One line for what is done, one for what comes next, one for what is in the way.
`
const { skill, version, created } = await api.publishSkill({ skillMd })
console.log(`${created ? 'published' : 'already there:'} ${skill.fullName}@${version.version} as ${username}`)

const { skills, total } = await api.searchSkills({ q: 'stand-up commits', limit: 3 })
console.log(`${total} found, first ${skills[0]?.fullName}`)
