import path from 'node:path'
import type { FollowedPath } from '#/templates/replaceable-paths.ts'

type Settings = Readonly<Record<string, string | undefined>>

/** Settings that name folders and files which Berth opens, beside its private folders. */
const opened = [
  'SECRETS_DIR',
  'CONTAINER_TEMPLATES_FILE',
  'BRANDING_FILE',
  'OIDC_PROVIDERS_FILE',
  'ACCESS_LOG_FILE',
  'TLS_CERT_FILE',
  'TLS_KEY_FILE',
] as const

/** What settings name that Berth opens, for the check that no container may replace it. */
export function followedPaths(settings: Settings): FollowedPath[] {
  const value = (setting: string) => settings[setting]?.trim() || undefined
  const named = (setting: string, isPrivate: boolean, given = value(setting)): FollowedPath[] =>
    given === undefined ? [] : [{ setting, path: path.resolve(given), isPrivate }]
  const socket = /^unix:\/\/(\/.+)$/.exec(value('DOCKER_HOST') ?? '')?.[1]
  return [
    ...named('DATA_DIR', true, value('DATA_DIR') ?? './data'),
    ...named('ARCHIVE_DIR', true),
    ...opened.flatMap((setting) => named(setting, false)),
    ...named('the file of settings', false, 'berth.env'),
    ...(socket === undefined ? [] : named('DOCKER_HOST', false, socket)),
  ]
}
