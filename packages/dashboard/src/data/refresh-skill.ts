import { refresh } from './queries.ts'

/** Fetches everything that shows a skill again. */
export async function refreshSkill(): Promise<void> {
  await Promise.all([refresh('skill'), refresh('skills'), refresh('own-skills')])
}
