// For nginx's njs: sends a request again that found nobody listening, or may be repeated, as soon as somebody listens.
const INTERVAL_MS = 100;
const PATIENCE_MS = 10000;
const MAX_PASSES = 4;

async function wait(r) {
  // An entry for each connection, " : " between passes. "-": none was made, so that nothing was sent.
  const passes = r.variables.upstream_connect_time.split(' : ');
  const nothingSent = passes[passes.length - 1].endsWith('-');
  if (passes.length === MAX_PASSES || !(nothingSent || mayBeRepeated(r))) {
    r.return(502);
    return;
  }
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    if (await listens(r.variables.todo)) {
      r.internalRedirect('@again');
      return;
    }
  }
  r.return(502);
}

/** Reads, preflights, and creates with an Idempotency-Key. */
function mayBeRepeated(r) {
  const safe = r.method === 'GET' || r.method === 'HEAD' || r.method === 'OPTIONS';
  return safe || (r.method === 'POST' && r.headersIn['Idempotency-Key'] !== undefined);
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
