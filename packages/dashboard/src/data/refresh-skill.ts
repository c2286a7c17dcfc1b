import { refresh } from './queries.ts'

/** Reloads all data that shows a skill. */
export async function refreshSkill(): Promise<void> {
  await Promise.all([refresh('skill'), refresh('skills'), refresh('own-skills')])
}
