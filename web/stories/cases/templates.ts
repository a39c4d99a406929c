import { types } from '../admin-list-fixtures.ts'
import type { TemplatesResponse } from '@berth/api/schemas/administration/admin.ts'
import { ada, minutesAgo } from '../user-fixtures.ts'
import { never, type Story } from '../story.ts'

const digest = 'sha256:9f0a2c1d4b5e6f708192a3b4c5d6e7f80912a3b4c5d6e7f8091a2b3c4d5e6f70'
const owner = (id: number) => ({ user_id: id, email: `student${id}@example.org`, container_id: `c${id}` })
const templates: TemplatesResponse['templates'] = [
  {
    type: 'notebook',
    version: '3f9a0c1b2d4e5f60',
    image: {
      reference: 'quay.io/jupyter/minimal-notebook:2026-11-02',
      id: 'a'.repeat(64),
      digest,
      pulled_at: minutesAgo(60 * 26),
    },
    older: Array.from({ length: 23 }, (_, index) => owner(index + 1)),
    asked: 0,
  },
  {
    type: 'dev',
    version: '0c1b2d4e5f603f9a',
    image: { reference: 'berth-demo-dev:latest', id: 'b'.repeat(64), digest: null, pulled_at: minutesAgo(60) },
    older: [owner(7)],
    asked: 1,
  },
  {
    type: 'gpu-lab',
    version: '2d4e5f603f9a0c1b',
    image: { reference: 'registry.example.org/course/gpu:1', id: null, digest: null, pulled_at: null },
    older: [],
    asked: 0,
  },
  {
    type: 'statistics',
    version: '4e5f603f9a0c1b2d',
    image: { reference: '', id: null, digest: null, pulled_at: null },
    environment_missing: 'statistics',
    older: [],
    asked: 0,
  },
]
/** A type that has a name of its own, beside two of which the page knows the id alone. */
const named = {
  containers: types.containers.map((each) => (each.type === 'dev' ? { ...each, display_name: 'Development' } : each)),
}
const page = {
  path: '/admin/templates',
  boot: { is_admin: true, email: 'ada@example.org', has_environments: true },
  answers: { me: ada, listContainers: named, listTemplates: { templates } },
}

/** Templates, for administrators. */
export const templateStories: readonly Story[] = [
  { name: 'templates/older', ...page },
  { name: 'templates/now', ...page, press: ['Update nowUpdate containers of Development now'] },
  { name: 'templates/loading', ...page, answers: { me: ada, listContainers: named, listTemplates: never } },
]
