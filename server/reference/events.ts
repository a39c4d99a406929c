import type Type from 'typebox'
import { containerEvents, logEvents } from '@berth/api/schemas/container.ts'
import { groupEvents } from '@berth/api/schemas/groups/group-page.ts'
import { fieldsOf, typeOf } from './fields.ts'
import { code, page, table } from './markdown.ts'

const introduction = `Three endpoints answer with [server-sent events](https://html.spec.whatwg.org/multipage/server-sent-events.html). All require a token as header or cookie (with the cookie also \`X-CSRF-Token\`). A stream ends when the token expires or is revoked, when the user is blocked, and when Berth stops. A comment every 25 s keeps the connection alive. How a client resumes after a lost connection: [event streams](../explanation/event-streams.md).`

/** docs/reference/events.md */
export function eventsPage(): string {
  const stream = (title: string, words: string, events: Readonly<Record<string, Type.TSchema>>) => [
    `## ${title}`,
    words,
    ...Object.entries(events).flatMap(([name, schema]) => event(name, schema)),
  ]
  return page(
    'Events',
    'api/src/schemas/container.ts',
    introduction,
    ...stream(
      'GET /api/container/events',
      "Changes of the caller's own containers, in order. Max 20 streams per user (429) and 5,000 in total (503).",
      containerEvents,
    ),
    ...stream(
      'GET /api/container/logs/{container_type}',
      "The last `lines` lines (0 to 1,000; default 100) of the output of the caller's own container, oldest first, then each new line. Also for a stopped or blocked container; 404 if there is none. Max 5 streams per user (429) and 500 in total (503); at most 1,000 lines per second. A stream that breaks off without `end` is opened again and starts with the last lines; its events have no ids.",
      logEvents,
    ),
    ...stream(
      'GET /api/groups/{id}/events',
      "The state of the members of a group for its managers and administrators: of all members at first, then of each that changes, with at most two events a second. Of containers only those of the group's types. At most the first 2,000 members. Rights are checked every 30 s; the stream ends with them. Max 5 streams per user (429) and 500 in total (503). A stream that breaks off is opened again and starts with all members; its events have no ids.",
      groupEvents,
    ),
  )
}

function event(name: string, schema: Type.TSchema): string[] {
  const { anyOf, description } = schema as { anyOf?: Type.TSchema[]; description?: string }
  const fields = fieldsOf(schema)
  return [
    `### ${code(name)}`,
    ...(description === undefined ? [] : [`${description}.`]),
    ...(fields.length > 0 ? [table(['field', 'type', 'meaning'], fields)] : []),
    ...(anyOf ? [table(['stage', 'more fields', 'meaning'], anyOf.map(stage))] : []),
  ]
}

/** A row for one kind of an event that has several, told apart by \`stage\`. */
function stage(schema: Type.TSchema): string[] {
  const { properties, description } = schema as { properties: Record<string, Type.TSchema>; description?: string }
  const more = Object.entries(properties).filter(([name]) => name !== 'type' && name !== 'stage')
  return [
    properties.stage ? typeOf(properties.stage) : '',
    more.map(([name, each]) => `${code(name)} (${typeOf(each)})`).join(', '),
    [description ?? '', ...more.flatMap(([name, each]) => meaningOf(name, each))].join('. '),
  ]
}

function meaningOf(name: string, schema: Type.TSchema): string[] {
  const { description } = schema as { description?: string }
  return description === undefined ? [] : [`${code(name)}: ${description}`]
}
