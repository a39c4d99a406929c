import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogueEntries, chosenFields, isNameList, namesIn } from './catalogue.ts'
import { readTemplates } from './read-templates.ts'

test('every template of the catalogue is one that Berth reads, and says what of it was tried', () => {
  const entries = catalogueEntries()
  assert.ok(entries.length >= 14)
  for (const { name, fields, tried, notTried } of entries) {
    assert.deepEqual(readTemplates(JSON.stringify({ [name]: fields }), name).problems, [])
    assert.ok(tried !== null || notTried !== null, name)
  }
})

test('names with commas are a list, and no map in JSON or YAML is taken for one', () => {
  for (const list of ['code-server', 'code-server,jupyterlab', ' code-server , jupyterlab ', 'Unknown_1'])
    assert.ok(isNameList(list), list)
  for (const map of ['{"dev":{"image":"x"}}', 'dev: {image: x}', 'dev:\n  image: x', '{}', '', 'a,,b', 'a.yaml', '/a'])
    assert.ok(!isNameList(map), map)
  assert.deepEqual(namesIn(' code-server , jupyterlab '), ['code-server', 'jupyterlab'])
})

test('an unknown name is refused with the nearest name, if one is near, and with all names', () => {
  const problemOf = (name: string) => {
    const chosen = chosenFields(name)
    return 'problem' in chosen ? chosen.problem : ''
  }
  assert.match(
    problemOf('jupyter-lab'),
    /^"jupyter-lab" is no template .*; did you mean jupyterlab\? There are: code-server, /,
  )
  assert.match(problemOf('Streamlit'), /did you mean streamlit\?/)
  assert.doesNotMatch(problemOf('something-else'), /did you mean/)
})

test('a template extends one of the catalogue: own fields replace its fields, and variables are added', () => {
  const { templates, problems } = readTemplates(
    'lab: { extends: vite, memory: 3g, env: { COURSE: statistics } }\nown: { extends: null, image: x }',
    'text',
  )
  assert.deepEqual(problems, [])
  const [lab] = templates
  assert.deepEqual(
    [lab?.type, lab?.displayName, lab?.port, lab?.memory, lab?.stripPrefix, lab?.env],
    ['lab', 'Vite', 5173, 3 * 1024 ** 3, false, { HOME: '/home/node', COURSE: 'statistics' }],
  )
  const wrong = readTemplates('a: { image: x }\nlab:\n  extends: vitte\n', 'text').problems
  assert.match(wrong.join(), /^text: line 3, column 3: lab: extends: "vitte" is no template .*; did you mean vite\?/)
})
