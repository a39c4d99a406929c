import { accountSettings } from './account-setting-descriptions.ts'
import { baseSettings } from './base-setting-descriptions.ts'
import { operationSettings } from './operation-setting-descriptions.ts'
import type { SettingDescription, SettingGroups } from './setting-description.ts'

export type { SettingDescription } from './setting-description.ts'

/** Settings by subject, in the order of the page. `readConfig` reads these and no others. */
export const settingGroups = {
  ...baseSettings,
  ...accountSettings,
  ...operationSettings,
} as const satisfies SettingGroups

type Groups = typeof settingGroups

/** Name of a setting. A setting that is not described here cannot be read: `readConfig` does not compile. */
export type SettingName = { [G in keyof Groups]: keyof Groups[G] }[keyof Groups] & string

/** Settings that can be given by a file, in the order of the page. */
export const secretSettings: readonly string[] = Object.values<Readonly<Record<string, SettingDescription>>>(
  settingGroups,
).flatMap((group) => Object.keys(group).filter((name) => group[name]?.isSecret))
