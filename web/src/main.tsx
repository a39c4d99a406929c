import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { hideToken } from '#/place.ts'
import { CurrentPage } from '#/routes.tsx'
import '#/styles/base.css'
import '#/styles/controls.css'
import '#/styles/layout.css'
import '#/styles/cards.css'
import '#/styles/progress.css'

// Before anything is rendered or requested: the link's token leaves the address bar.
hideToken()

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element with the id "root"')
createRoot(root).render(
  <StrictMode>
    <CurrentPage />
  </StrictMode>,
)
