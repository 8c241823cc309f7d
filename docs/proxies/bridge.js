// For nginx's njs: holds requests that found nobody listening until somebody does, at most 10 s.
const INTERVAL_MS = 100;
const PATIENCE_MS = 10000;

async function wait(r) {
  // "-": no connection was made, so that nothing was sent. Anything else may have been a change, and is not repeated.
  const tries = r.variables.upstream_connect_time.split(/[,:] */);
  if (tries[tries.length - 1].trim() !== '-') {
    r.return(502);
    return;
  }
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    if (await listens(r.variables.todo)) {
      r.internalRedirect('@again');
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
  r.return(502);
}

async function listens(url) {
  try {
    await ngx.fetch(url);
    return true;
  } catch (_) {
    return false;
  }
}

export default { wait };
