import { common, containersOf, rowOf } from '../admin-list-fixtures.ts'
import type { Story } from '../story.ts'

const containers = '/admin/containers'
const boot: Story['boot'] = { is_admin: true }
const allFull: Story['answers'] = {
  ...common,
  listAllContainers: containersOf(41_210),
  countContainers: { count: 41_210 },
}

/** The table of containers, and its dialogs. */
export const containerStories: readonly Story[] = [
  { name: 'containers/full', path: containers, boot, answers: allFull },
  {
    name: 'containers/filtered',
    path: `${containers}?status=failed&container_type=dev`,
    boot,
    answers: {
      ...common,
      listAllContainers: {
        containers: [rowOf(3, { status: 'failed' }), rowOf(13, { status: 'failed' })],
        next_cursor: null,
      },
      countContainers: { count: 2 },
    },
  },
  {
    name: 'containers/none',
    path: containers,
    boot,
    answers: { ...common, listAllContainers: { containers: [], next_cursor: null }, countContainers: { count: 0 } },
  },
  {
    name: 'containers/no-match',
    path: `${containers}?q=nobody`,
    boot,
    answers: { ...common, listAllContainers: { containers: [], next_cursor: null }, countContainers: { count: 0 } },
  },
  {
    name: 'containers/selected',
    path: containers,
    boot,
    answers: allFull,
    press: ['Select all rows that are loaded'],
  },
  {
    name: 'containers/menu',
    path: containers,
    boot,
    answers: allFull,
    press: ['Actions for dev of ben@students.example'],
  },
  {
    name: 'containers/block',
    path: containers,
    boot,
    answers: allFull,
    press: ['Actions for dev of ben@students.example', 'Block…'],
  },
  {
    name: 'containers/delete',
    path: containers,
    boot,
    answers: allFull,
    press: ['Actions for dev of ben@students.example', 'Delete…'],
  },
]
