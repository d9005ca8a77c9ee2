#include "caisson/rest/command_end.h"

#include <boost/json.hpp>
#include <utility>

#include "caisson/rest/infos_json.h"

namespace caisson::rest {
namespace {

class CommandEnd final : public PendingReply {
 public:
  CommandEnd(service::Service& service, service::Caller caller, service::CommandInfo info, NameCommand name)
      : service_(service), caller_(std::move(caller)), info_(std::move(info)), name_(name) {}

  Status Await(std::function<void()> ready) override {
    return service_.AwaitEnd(caller_, info_.sandbox.text(), info_.id, std::move(ready));
  }
  Result<Reply> Take() override {
    CAISSON_TRY(const service::StepResult step, service_.ResultOf(caller_, info_.sandbox.text(), info_.id));
    return JsonReply(200, name_ == NameCommand::kYes ? ToolStepObject(step) : StepObject(step));
  }
  void Abandon() override { (void)service_.Cancel(caller_, info_.sandbox.text(), info_.id); }

 private:
  service::Service& service_;
  service::Caller caller_;
  service::CommandInfo info_;
  NameCommand name_;
};

}  // namespace

std::shared_ptr<PendingReply> AwaitCommand(service::Service& service, service::Caller caller, service::CommandInfo info,
                                           NameCommand name) {
  return std::make_shared<CommandEnd>(service, std::move(caller), std::move(info), name);
}

}  // namespace caisson::rest
