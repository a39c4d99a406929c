import path from 'node:path'
import type { FollowedPath } from '#/templates/replaceable-paths.ts'
import { settings } from './settings.ts'

/** What settings name that Berth opens, for the check that no container may replace it. */
export function followedPaths(env: Readonly<Record<string, string | undefined>>): FollowedPath[] {
  const value = (setting: string) => env[setting]?.trim() || (settings.get(setting)?.default ?? undefined)
  const named = (setting: string, isPrivate: boolean, given = value(setting)): FollowedPath[] =>
    given === undefined ? [] : [{ setting, path: path.resolve(given), isPrivate }]
  const opened = (kind: 'private' | 'shared') =>
    [...settings].filter(([, { opens }]) => opens === kind).flatMap(([name]) => named(name, kind === 'private'))
  const socket = /^unix:\/\/(\/.+)$/.exec(value('DOCKER_HOST') ?? '')?.[1]
  return [
    ...opened('private'),
    ...opened('shared'),
    ...named('the file of settings', false, 'berth.env'),
    ...(socket === undefined ? [] : named('DOCKER_HOST', false, socket)),
  ]
}
