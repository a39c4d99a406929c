import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appImage } from './support/app-image.ts'
import { installPythonPackages } from './support/install-python-packages.ts'
import { portOnceListed, runApp } from './support/run-app.ts'
import { watchTraffic } from './support/traffic.ts'

/** Streamlit on a further port, as its first page of documentation starts it, on loopback, and without a setting of the prefix. */
const start = `mkdir -p /tmp/project && cd /tmp/project
cat > app.py <<'END'
import streamlit as st
st.title("First words")
if st.button("Press"):
    st.session_state.count = st.session_state.get("count", 0) + 1
st.write(f"Pressed {st.session_state.get('count', 0)}")
END
python3 -m streamlit run app.py --server.address=127.0.0.1 --server.headless=true --server.runOnSave=true &
exec node --eval "require('node:http').createServer((_, answer) => answer.end('main')).listen(8080)"
`
const image = await appImage('streamlit', (folder) => installPythonPackages(folder, ['streamlit']))
const template = {
  port: 8080,
  memory: '1g',
  home: null,
  env: { HOME: '/tmp', STREAMLIT_BROWSER_GATHER_USAGE_STATS: 'false' },
  command: ['sh', '-c', start],
}

for (const routing of ['path', 'subdomain'] as const)
  test(`with ${routing} routing a further port shows Streamlit, which listens on loopback alone, and an edit without a reload`, async (t) => {
    const lifetime = { after: (work: () => Promise<void>) => t.after(work) }
    const app = await runApp(lifetime, image, { streamlit: template }, { env: { CONTAINER_ROUTING: routing } })
    const { page, context, ann } = app
    const { shell } = await app.open('streamlit')
    const { url, is_loopback } = await portOnceListed(ann, 'streamlit', 8501)
    assert.equal(is_loopback, true)
    const traffic = watchTraffic(context, url)
    await page.goto(url)
    await page.getByRole('heading', { name: 'First words' }).waitFor()
    await page.getByRole('button', { name: 'Press' }).click()
    await page.getByText('Pressed 1').waitFor()
    await page.evaluate('window.wasNotReloaded = true')
    await shell(`sed -i 's/First words/Second words/' /tmp/project/app.py`)
    await page.getByRole('heading', { name: 'Second words' }).waitFor()
    await page.getByText('Pressed 1').waitFor()
    assert.equal(await page.evaluate('window.wasNotReloaded'), true)
    assert.ok(traffic.sockets.some(({ isOpen }) => isOpen))
    assert.deepEqual(traffic.outside, [])
  })
