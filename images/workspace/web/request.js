import { getJson } from './api.js'
import { element, tableOf } from './ui/element.js'
import { t, translatePage } from './ui/i18n.js'

translatePage()

const view = await getJson('../api/request').catch((error) => ({ error }))
if (view.error) showProblem('facts', view.error)
else show(view)
await showIdentity()

/** @param {any} view the answer of `api/request` */
function show({ mode, prefix, berth, method, path, caller, headers, environment }) {
  put('facts', [
    fact(
      'Prefix',
      prefix ?? t('none'),
      prefix ? 'Taken away before the request came here' : 'No gateway stands before this container',
    ),
    fact('Request', `${method} ${path}`, 'What this page asked, without the prefix'),
    fact(
      'Signed in as',
      caller ?? t('nobody'),
      caller ? 'The gateway says so in X-Berth-User' : 'The request carries no X-Berth-User',
    ),
    fact(
      'Mode',
      mode,
      mode === 'site' ? 'Read-only: files are served as a site' : 'Files can be changed, terminals opened',
    ),
  ])
  put('headers', [tableOf([t('Header'), t('Value')], headers.map(pair))])
  put('environment', [tableOf([t('Name'), t('Value')], environment.map(pair))])
  const back = document.getElementById('back')
  if (back) back.textContent = t(mode === 'site' ? 'To the site' : 'To the workspace')
  const toBerth = document.getElementById('to-berth')
  // Started by hand there is no Berth to go back to.
  if (toBerth) toBerth.hidden = prefix === null && berth === null
  if (berth) toBerth?.setAttribute('href', berth)
}

/** @param {{ name: string, value: string | null }} line */
function pair({ name, value }) {
  return [name, value ?? t('for the owner only')]
}

/**
 * @param {string} name
 * @param {string} value
 * @param {string} note
 */
function fact(name, value, note) {
  return element('div', { class: 'fact' }, [
    element('p', { class: 'fact-name' }, [t(name)]),
    element('p', { class: 'fact-value' }, [value]),
    element('p', { class: 'quiet' }, [t(note)]),
  ])
}

async function showIdentity() {
  try {
    const claims = await getJson('../api/whoami')
    put('identity', [
      tableOf(
        [t('Claim'), t('Value')],
        Object.entries(claims).map(([name, value]) => [name, claimText(name, value)]),
      ),
    ])
  } catch (error) {
    showProblem('identity', error)
  }
}

/** Times in tokens are seconds since 1970. @param {string} name @param {unknown} value */
function claimText(name, value) {
  const isTime = typeof value === 'number' && ['exp', 'iat', 'nbf'].includes(name)
  return isTime
    ? `${value} (${new Date(value * 1000).toLocaleString()})`
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
}

/**
 * @param {string} id
 * @param {any} error
 */
function showProblem(id, error) {
  const status = error.status ? `${error.status}: ` : ''
  put(id, [element('p', { class: 'note' }, [`${status}${error.message}`])])
}

/** @param {string} id @param {Node[]} nodes */
function put(id, nodes) {
  const place = document.getElementById(id)
  place?.replaceChildren(...nodes)
  place?.removeAttribute('aria-busy')
}
