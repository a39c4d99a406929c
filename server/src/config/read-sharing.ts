import type { SettingName } from './setting-descriptions.ts'
import { list, whole, Problem } from './setting-values.ts'

/** Whether, and with whom, users may share their containers. */
export interface SharingConfig {
  readonly isOn: boolean
  readonly withPeople: boolean
  readonly withGroups: boolean
  /** How long a share may last, in seconds. */
  readonly maxDuration: number
}

/** `SHARING` and `SHARE_MAX_DURATION`. @param problems gets a sentence for each problem found */
export function readSharing(text: (name: SettingName) => string | null, problems: string[]): SharingConfig {
  const words = list(text('SHARING') ?? 'off')
  const isRight = words.length === 1 ? /^(off|people|groups)$/.test(words[0] ?? '') : isBoth(words)
  if (!isRight) problems.push('SHARING: must be off, people, groups or people,groups')
  const duration = text('SHARE_MAX_DURATION')
  const seconds = duration === null ? defaultDuration : whole(60, 31_536_000)(duration)
  if (seconds instanceof Problem) problems.push(`SHARE_MAX_DURATION: ${seconds.words}`)
  const [withPeople, withGroups] = [words.includes('people'), words.includes('groups')]
  const maxDuration = seconds instanceof Problem ? defaultDuration : seconds
  return { isOn: withPeople || withGroups, withPeople, withGroups, maxDuration }
}

/** 30 days, in seconds. */
const defaultDuration = 2_592_000

const isBoth = (words: readonly string[]) => words.length === 2 && words.includes('people') && words.includes('groups')
