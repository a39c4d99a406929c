import { common, containersOf, details, namedTypes, rowOf } from '../admin-list-fixtures.ts'
import type { Story } from '../story.ts'

const containers = '/admin/containers'
const named = { ...common, listContainers: namedTypes }
const boot: Story['boot'] = { is_admin: true }
const allFull: Story['answers'] = {
  ...named,
  listAllContainers: containersOf(41_210),
  countContainers: { count: 41_210 },
}

const story = (name: string, answers: NonNullable<Story['answers']>, press: readonly string[] = []): Story => ({
  name: `containers/${name}`,
  path: containers,
  boot,
  answers,
  press,
})

/** The table of containers, and its dialogs. */
export const containerStories: readonly Story[] = [
  story('full', allFull),
  {
    name: 'containers/filtered',
    path: `${containers}?status=failed&container_type=dev`,
    boot,
    answers: {
      ...named,
      listAllContainers: {
        containers: [rowOf(3, { status: 'failed' }), rowOf(13, { status: 'failed' })],
        next_cursor: null,
      },
      countContainers: { count: 2 },
    },
  },
  story('none', { ...named, listAllContainers: { containers: [], next_cursor: null }, countContainers: { count: 0 } }),
  {
    name: 'containers/no-match',
    path: `${containers}?q=nobody`,
    boot,
    answers: { ...named, listAllContainers: { containers: [], next_cursor: null }, countContainers: { count: 0 } },
  },
  story('selected', allFull, ['Select all rows that are loaded']),
  story('details', { ...allFull, ...details }, ['ben@students.example']),
  story('menu', allFull, ['Actions for Development of ben@students.example']),
  story('block', allFull, ['Actions for Development of ben@students.example', 'Block']),
  story('restart', allFull, ['Actions for Development of elif@students.example', 'Restart']),
  story(
    'logs',
    {
      ...allFull,
      readContainerLogs: { lines: ['Listening on 0.0.0.0:8080', 'GET / 200 in 3 ms', 'Error: disk quota exceeded'] },
    },
    ['Actions for Development of elif@students.example', 'Logs', 'Show the last lines'],
  ),
  story('stop', allFull, ['Actions for Development of elif@students.example', 'Stop']),
  story('delete', allFull, ['Actions for Development of ben@students.example', 'Delete']),
]
