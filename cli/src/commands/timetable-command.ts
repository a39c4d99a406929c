import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Timetable } from '@berth/api/schemas/groups/timetable.ts'
import type { CommandSpec } from '#/command.ts'
import { withApi, type CommandContext } from '#/with-api.ts'
import { CommandFailed, WrongUsage, reasonOf } from '#/command-failure.ts'
import { findGroup } from './find-group.ts'

interface TimetableOptions {
  readonly set?: string
  readonly remove?: boolean
}

/** `berth groups timetable`. */
export const timetableCommand: CommandSpec = {
  description: 'show or change the hours of a group: lessons, the stop at night, exceptions',
  usage: (command) =>
    command
      .argument('<group>', 'name or id')
      .option('--set <file>', 'replace the hours by those of this JSON file, as --json prints them')
      .option('--remove', 'remove all hours'),
  effect: 'Without an option read-only. A change holds at once.',
  examples: [
    ['groups timetable "Physics 7b" --json > hours.json', 'a file to edit'],
    ['groups timetable "Physics 8a" --set hours.json', 'the same hours for another class'],
  ],
  work: showOrChange,
}

async function showOrChange(
  context: CommandContext,
  target: string,
  { set, remove = false }: TimetableOptions,
): Promise<void> {
  if (set !== undefined && remove) throw new WrongUsage('Say either --set or --remove.')
  const wanted = set === undefined ? null : await readTimetable(path.resolve(context.folder, set), set)
  await withApi(context, async (api) => {
    const params = { id: String((await findGroup(api, target)).id) }
    const isChanged = set !== undefined || remove
    const { timetable } = isChanged
      ? await api.setTimetable({ params, body: { timetable: wanted } })
      : await api.readTimetable({ params })
    show(context, timetable)
  })
}

function show({ terminal }: CommandContext, timetable: Timetable | null): void {
  terminal.json(timetable)
  if (!timetable) return terminal.note('None.')
  terminal.print(`Time zone: ${timetable.time_zone}`)
  terminal.print(`Stop: ${timetable.stop_at ?? 'none'}`)
  for (const { days, at, container_type } of timetable.lessons)
    terminal.print(`Days ${days.join(', ')} at ${at}: ${container_type}`)
  for (const { date, lessons, stops } of timetable.exceptions) {
    const held = lessons.map(({ at, container_type }) => `${at} ${container_type}`).join(', ')
    terminal.print(`${date}: ${held === '' ? 'no lesson' : held}${stops ? '' : '; no stop'}`)
  }
}

/** The API checks what it says. @param name as typed, for the message @throws {CommandFailed} when it cannot be read */
async function readTimetable(file: string, name: string): Promise<Timetable> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Timetable
  } catch (error) {
    throw new CommandFailed(`${name} cannot be read as JSON: ${reasonOf(error)}`)
  }
}
