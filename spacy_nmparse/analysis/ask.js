"use strict";
// What pages ask of the server, and the token behind # that it wants.
const token = new URLSearchParams(location.hash.slice(1)).get("token");

async function ask(path, body) {
  const response = await fetch(path, {method: "POST", body: JSON.stringify(body),
    headers: {"Content-Type": "application/json", Authorization: `Bearer ${token}`}});
  const answer = await response.json();
  if (response.ok) return answer;
  throw Object.assign(new Error(answer.error), {status: response.status, answer});
}
